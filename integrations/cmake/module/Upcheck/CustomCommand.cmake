#[=======================================================================[.rst:
.. command:: upcheck_add_custom_command

  Adds a custom command that runs again only when the content of an input changed, or the command itself::

    upcheck_add_custom_command(OUTPUT <file>...
                               COMMAND <command> [<arg>...]
                               [COMMAND <command> [<arg>...]]...
                               [DEPENDS <input>...]
                               [CONTENT]
                               [DEPFILE <file>]
                               [WORKING_DIRECTORY <dir>]
                               [COMMENT <text>]
                               [BYPRODUCTS <file>...]
                               [VALUES <NAME=VALUE>...]
                               [JOB_POOL <pool>] [USES_TERMINAL]
                               [COMMAND_EXPAND_LISTS] [VERBATIM])

  Everything is as with ``add_custom_command(OUTPUT)`` unless said otherwise. Arguments are always verbatim, and none of
  them may be an operator of the shell: ``COMMAND sh -c "a > b"``.

  An input that is touched, or changed and changed back, does not run the command. Outputs that come out as they were
  keep their times, so that what is made from them is not made again. What the command was made from is on record in
  ``CMakeFiles/upcheck`` below the current binary directory.

  ``CONTENT``
    Content decides for outputs, too, and for inputs that were changed without their times showing it. By default an
    output that is not as the command left it is made again.

  ``DEPFILE``
    Where the command says, in make's format, what it has read. With Makefile generators it needs CMake 3.20, and so it
    does in directories other than the topmost one, where older versions mean names relative to that.

  ``VALUES``
    What else the outputs depend on, such as the version of a tool. A changed value runs the command.

  With Makefile generators ``upcheck`` is started in each build for an input that was touched, and does nothing. Outputs
  must be files: none that is marked ``SYMBOLIC``. Other keywords of ``add_custom_command()`` are refused.
#]=======================================================================]

function(upcheck_add_custom_command)
  set(options CONTENT USES_TERMINAL COMMAND_EXPAND_LISTS VERBATIM)
  set(ones DEPFILE WORKING_DIRECTORY COMMENT JOB_POOL)
  set(lists OUTPUT DEPENDS BYPRODUCTS VALUES)
  # What CMake leaves to the shell, even if it is VERBATIM.
  set(operators < > << >> | || && &> 1> 2> 2>&1 1>&2)
  _upcheck_check_project(upcheck_add_custom_command)

  # Several COMMANDs are one to cmake_parse_arguments, and lists lose what is between two semicolons. So they are taken
  # out here, each argument quoted, and the rest is left to be parsed.
  set(n_commands 0) # The code of each is in command_<number>.
  set(words "")
  set(is_command FALSE)
  set(is_first FALSE)
  set(has_choice FALSE) # Whether one of them may be empty.
  set(rest "")
  math(EXPR last "${ARGC} - 1")
  if(ARGC GREATER 0)
    foreach(at RANGE ${last})
      set(arg "${ARGV${at}}")
      if(arg STREQUAL "COMMAND")
        if(is_first)
          _upcheck_fail(upcheck_add_custom_command "no value given for COMMAND")
        endif()
        math(EXPR n_commands "${n_commands} + 1")
        set(command_${n_commands} "")
        set(is_command TRUE)
        set(is_first TRUE)
      elseif(is_command AND NOT "${arg}" IN_LIST options AND NOT "${arg}" IN_LIST ones AND NOT "${arg}" IN_LIST lists)
        if(is_first)
          if(arg MATCHES "\\$<")
            set(has_choice TRUE)
          endif()
          _upcheck_program(arg "${arg}")
        endif()
        set(is_first FALSE)
        if("${arg}" IN_LIST operators)
          # It would be about the output of upcheck, and empty a file also where the command need not run.
          _upcheck_fail(upcheck_add_custom_command "'${arg}' is for a shell: COMMAND sh -c \"... ${arg} ...\"")
        endif()
        _upcheck_quote(quoted "${arg}")
        string(APPEND command_${n_commands} " ${quoted}")
        string(APPEND words "${arg}\n")
      else()
        set(is_command FALSE)
        _upcheck_quote(quoted "${arg}")
        string(APPEND rest " ${quoted}")
      endif()
    endforeach()
  endif()
  if(is_first)
    _upcheck_fail(upcheck_add_custom_command "no value given for COMMAND")
  endif()
  _upcheck_eval("_upcheck_add_custom_command_rest(${rest})")
endfunction()

# With the rest of the arguments, and the variables of the function that calls it.
function(_upcheck_add_custom_command_rest)
  set(function upcheck_add_custom_command)
  cmake_parse_arguments(PARSE_ARGV 0 arg "${options}" "${ones}" "${lists}")
  _upcheck_check_arguments(${function} OUTPUT)
  if(NOT n_commands)
    _upcheck_fail(${function} "COMMAND is missing")
  endif()
  foreach(value IN LISTS arg_VALUES)
    if(NOT value MATCHES "^[^=]+=")
      _upcheck_fail(${function} "VALUES: '${value}' has not the form NAME=VALUE")
    endif()
  endforeach()
  _upcheck_command(upcheck ${function})

  # ---- where everything is ------------------------------------------------------------------------

  list(GET arg_OUTPUT 0 first)
  string(MD5 id "${first}")
  set(inputs "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/upcheck/${id}")
  get_property(is_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(is_multi_config)
    string(APPEND inputs "-$<CONFIG>")
  endif()
  string(APPEND inputs ".inputs")
  set(depends "")
  set(listed "")
  foreach(input IN LISTS arg_DEPENDS)
    _upcheck_quote(quoted "${input}")
    string(APPEND depends " ${quoted}")
    _upcheck_input(lines "${input}")
    string(APPEND listed "${lines}")
  endforeach()
  # A changed list of inputs is a change, also where none of them changed.
  file(GENERATE OUTPUT "${inputs}" CONTENT "${listed}")

  # ---- the command that runs the commands -----------------------------------------------------------

  # The store is for this directory, and all paths start from it.
  set(run run -C "${CMAKE_CURRENT_BINARY_DIR}" --records CMakeFiles/upcheck --keep-times --inputs-from "${inputs}")
  if(arg_CONTENT)
    list(APPEND run --policy digest)
  endif()
  set(more "")
  if(arg_DEPFILE)
    if(CMAKE_VERSION VERSION_LESS 3.20)
      if(NOT CMAKE_GENERATOR MATCHES "Ninja")
        _upcheck_fail(${function} "DEPFILE needs CMake 3.20 with the generator '${CMAKE_GENERATOR}'")
      elseif(NOT CMAKE_CURRENT_BINARY_DIR STREQUAL CMAKE_BINARY_DIR)
        _upcheck_fail(${function} "DEPFILE needs CMake 3.20 in a directory other than the topmost one")
      endif()
    endif()
    list(APPEND run "--depfile=${arg_DEPFILE}")
    _upcheck_quote(quoted "${arg_DEPFILE}")
    string(APPEND more " DEPFILE ${quoted}")
  endif()
  if(arg_WORKING_DIRECTORY)
    list(APPEND run "--chdir=${arg_WORKING_DIRECTORY}")
  endif()
  if(n_commands GREATER 1 OR has_choice)
    set(separator "--then")
    while("\n${words}" MATCHES "\n${separator}\n")
      string(APPEND separator "-")
    endwhile()
    list(APPEND run "--separator=${separator}")
  endif()
  set(commands "${command_1}")
  if(n_commands GREATER 1)
    foreach(number RANGE 2 ${n_commands})
      string(APPEND commands " ${separator}${command_${number}}")
    endforeach()
  endif()
  foreach(output IN LISTS arg_OUTPUT arg_BYPRODUCTS)
    list(APPEND run "--output=${output}")
  endforeach()
  set(quoted_run "")
  foreach(word IN LISTS run)
    _upcheck_quote(quoted "${word}")
    string(APPEND quoted_run " ${quoted}")
  endforeach()
  # Values may have semicolons.
  foreach(value IN LISTS arg_VALUES)
    _upcheck_quote(quoted "--value=${value}")
    string(APPEND quoted_run " ${quoted}")
  endforeach()

  # ---- all of it --------------------------------------------------------------------------------------

  foreach(keyword OUTPUT BYPRODUCTS)
    if(arg_${keyword})
      string(APPEND more " ${keyword}")
    endif()
    foreach(file IN LISTS arg_${keyword})
      _upcheck_quote(quoted "${file}")
      string(APPEND more " ${quoted}")
    endforeach()
  endforeach()
  foreach(keyword COMMENT JOB_POOL)
    if(DEFINED arg_${keyword})
      _upcheck_quote(quoted "${arg_${keyword}}")
      string(APPEND more " ${keyword} ${quoted}")
    endif()
  endforeach()
  foreach(keyword USES_TERMINAL COMMAND_EXPAND_LISTS)
    if(arg_${keyword})
      string(APPEND more " ${keyword}")
    endif()
  endforeach()
  _upcheck_quote(quoted "${inputs}")
  _upcheck_quote(upcheck "${upcheck}")
  _upcheck_eval("add_custom_command(${more} COMMAND ${upcheck}${quoted_run} --${commands}
    DEPENDS${depends} ${quoted} VERBATIM)")
endfunction()

# What add_custom_command() makes of the first word of a COMMAND: the file of an executable target, if it is its name.
function(_upcheck_program variable name)
  if(name MATCHES "^[A-Za-z0-9_.+-][A-Za-z0-9_.+:-]*$")
    # The target may be added later.
    set(is "$<TARGET_EXISTS:${name}>")
    set(type "$<$<TARGET_EXISTS:${name}>:$<TARGET_PROPERTY:${name},TYPE>>")
    set(is "$<STREQUAL:${type},EXECUTABLE>")
    set(name "$<${is}:$<TARGET_FILE:${name}>>$<$<NOT:${is}>:${name}>")
  endif()
  set(${variable} "${name}" PARENT_SCOPE)
endfunction()

# The lines for an input in the list of inputs.
function(_upcheck_input variable input)
  if(input MATCHES "\\$<")
    set(lines "$<$<BOOL:${input}>:$<JOIN:${input},\n>\n>")
  elseif(IS_ABSOLUTE "${input}")
    set(lines "${input}\n")
  else()
    # What is there is meant, even if the build makes a file of that name: CMake takes it so.
    set(lines "${CMAKE_CURRENT_SOURCE_DIR}/${input}\n")
    if(NOT EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${input}")
      set(lines "${CMAKE_CURRENT_BINARY_DIR}/${input}\n")
    endif()
    if(input MATCHES "^[A-Za-z0-9_.+-][A-Za-z0-9_.+:-]*$")
      # A target may be added later.
      _upcheck_target_lines(lines "${input}" "${lines}")
    endif()
  endif()
  set(${variable} "${lines}" PARENT_SCOPE)
endfunction()

# The line for a target that has a file, which for libraries and programs is an input; `otherwise` if there is no such
# target when the build system is generated.
function(_upcheck_target_lines variable name otherwise)
  set(exists "$<TARGET_EXISTS:${name}>")
  set(type "$<${exists}:$<TARGET_PROPERTY:${name},TYPE>>")
  set(lines "$<$<NOT:${exists}>:${otherwise}>")
  foreach(kind EXECUTABLE STATIC_LIBRARY SHARED_LIBRARY MODULE_LIBRARY UNKNOWN_LIBRARY)
    string(APPEND lines "$<$<STREQUAL:${type},${kind}>:$<TARGET_FILE:${name}>\n>")
  endforeach()
  set(${variable} "${lines}" PARENT_SCOPE)
endfunction()
