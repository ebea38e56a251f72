# A manual page out of what a program says of itself, so that the two agree:
#   cmake -DPROGRAM=... -DOUTPUT=... -DSUMMARY=... -DVERSION=... -P THIS
# blockscale-opt has mlir-opt's help of thousands of lines, which stays there.
get_filename_component(name "${PROGRAM}" NAME_WE)
if(name STREQUAL "blockscale-opt")
  set(help "usage: blockscale-opt [IN.mlir] [FLAG]...\n\nTakes the flags of mlir-opt(1), and has the passes and pipelines of\nblockscale: --blockscale-..., see blockscale-opt --help.\n")
else()
  execute_process(COMMAND "${PROGRAM}" --help
    OUTPUT_VARIABLE help RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} --help: ${result}")
  endif()
endif()

# For troff, a backslash begins a request, as a full stop does in front of a
# line; a bare minus sign is a hyphen.
string(REPLACE "\\" "\\e" help "${help}")
string(REPLACE "-" "\\-" help "${help}")
string(REGEX REPLACE "\n([.'])" "\n\\\\&\\1" help "${help}")
string(REPLACE "-" "\\-" title "${name}")
string(REPLACE "-" "\\-" summary "${SUMMARY}")

string(FIND "${help}" "\n\n" end)
string(SUBSTRING "${help}" 0 ${end} synopsis)
string(SUBSTRING "${help}" ${end} -1 description)
string(REPLACE "usage: " "       " synopsis "${synopsis}")
string(STRIP "${description}" description)

file(WRITE "${OUTPUT}" ".TH ${title} 1 \"\" \"blockscale ${VERSION}\"
.SH NAME
${title} \\- ${summary}
.SH SYNOPSIS
.nf
${synopsis}
.fi
.SH DESCRIPTION
.nf
${description}
.fi
.SH EXIT STATUS
0: done. 1: something is wrong with files or their contents. 2: the command
line is wrong; blockscale\\-opt has 1 for that, too.
.SH SEE ALSO
Programs.md in the documentation of blockscale
")
