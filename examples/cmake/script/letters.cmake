# Writes a header with the content of all letters: cmake -DLETTERS=... -DDIR=... -DOUTPUT=... -P letters.cmake
set(text)
foreach(letter IN LISTS LETTERS)
  file(STRINGS "${DIR}/${letter}" lines)
  foreach(line IN LISTS lines)
    string(APPEND text "  \"${line}\",\n")
  endforeach()
endforeach()
file(WRITE "${OUTPUT}" "static const char *const all_letters[] = {\n${text}};\n")
