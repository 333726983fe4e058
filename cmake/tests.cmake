# SPDX-License-Identifier: Apache-2.0
# `colcon test`: the tests that start no nodes, in one process. `make test` runs all of them, those
# of nodes with real clocks in parallel to the others, which ctest cannot do.
set(ROBODYN_PYTEST_OPTIONS "-m 'not ros'" CACHE STRING "Options of pytest in colcon test")

find_package(ament_cmake_pytest QUIET)
if(ament_cmake_pytest_FOUND)
  ament_add_pytest_test(pytest test
    TIMEOUT 3600  # of a busy machine
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    ENV "PYTEST_ADDOPTS=${ROBODYN_PYTEST_OPTIONS}"
  )
else()
  message(STATUS "robodyn_ros: colcon test has no tests, not found: ament_cmake_pytest")
endif()

# The linters of package.xml. Python has its own: `make lint`.
find_package(ament_lint_auto QUIET)
if(ament_lint_auto_FOUND)
  ament_lint_auto_find_test_dependencies()
endif()
