# SPDX-License-Identifier: Apache-2.0
set(robodyn_try_library_project ${CMAKE_CURRENT_LIST_DIR}/try_library)

# Set `result` to whether a C++ source compiles against an imported target of a package.
#
# It is compiled in a project and a process of its own. A target that lacks one of its dependencies
# is an error there, and only means that the source does not compile; with try_compile, CMake (4.4)
# ends the configuration of this project.
function(robodyn_try_library result source package target)
  get_filename_component(name ${source} NAME_WE)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/try_${name})
  set(words -S ${robodyn_try_library_project} -B ${folder} -G ${CMAKE_GENERATOR}
    -DSOURCE=${source} -DPACKAGE=${package} -DTARGET=${target}
    -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -D${package}_DIR=${${package}_DIR})
  foreach(name CMAKE_TOOLCHAIN_FILE CMAKE_MAKE_PROGRAM)
    if(${name})
      list(APPEND words -D${name}=${${name}})
    endif()
  endforeach()
  string(REPLACE ";" "\\;" prefixes "${CMAKE_PREFIX_PATH}")
  list(APPEND words "-DCMAKE_PREFIX_PATH=${prefixes}")
  set(configure ${words})
  set(build --build ${folder})
  foreach(step configure build)
    execute_process(COMMAND ${CMAKE_COMMAND} ${${step}}
      RESULT_VARIABLE code OUTPUT_VARIABLE log ERROR_VARIABLE log)
    file(WRITE ${folder}/${step}.log "${log}")
    if(NOT code EQUAL 0)
      set(${result} FALSE PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${result} TRUE PARENT_SCOPE)
endfunction()
