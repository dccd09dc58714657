# Puts the build of an external project on record: cmake -DCOMMAND=... -DDIR=... -DSTORE=... -DNAME=... [-DBEGIN=ON] -P
# this file. With BEGIN it is about to begin, otherwise it has succeeded.
#
# A build that did not begin here may have read anything, so it proves nothing: the record stays what it is. A mark says
# that it did. What cannot be recorded is built again, and is no reason not to build it.
cmake_minimum_required(VERSION 3.16...4.0)

set(mark "${DIR}-begun/${NAME}")
set(begin)
if(BEGIN)
  set(begin --begin)
elseif(NOT EXISTS "${mark}")
  return()
endif()
execute_process(
  COMMAND "${COMMAND}" record ${begin} -C "${DIR}" --from graph -f "${DIR}.json" --records "${STORE}" "${NAME}"
  RESULT_VARIABLE status ERROR_VARIABLE error)
if(NOT status EQUAL 0 OR error)
  message(STATUS "'${NAME}' will be built again: ${status} ${error}")
endif()
file(REMOVE "${mark}")
if(BEGIN AND status EQUAL 0)
  file(TOUCH "${mark}")
endif()
