# SPDX-License-Identifier: Apache-2.0
# The controller plugin: C++, because it runs inside ros2_control's real-time loop. It is built
# where everything it needs is found; the rest of the package does not depend on it.
set(missing)
foreach(package controller_interface pluginlib generate_parameter_library
    rclcpp rclcpp_lifecycle rcutils diagnostic_msgs std_srvs urdfdom yaml-cpp)
  if(package STREQUAL "yaml-cpp")
    find_package(yaml_cpp_vendor QUIET)
  endif()
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    list(APPEND missing ${package})
  endif()
endforeach()
if(NOT ROBODYN_CPP_INTERFACES AND NOT missing)
  list(APPEND missing "C++ interfaces (ROBODYN_CPP_INTERFACES)")
endif()
# The last one, and only if the plugin can be built: without its own dependencies (Boost, coal),
# Pinocchio ends the configuration.
if(NOT missing)
  find_package(pinocchio QUIET)
  if(NOT pinocchio_FOUND)
    list(APPEND missing pinocchio)
  endif()
endif()
if(missing)
  list(JOIN missing ", " missing)
  message(STATUS "robodyn_ros: the controller plugin is left out, not found: ${missing}; \
the nodes do not need it")
  return()
endif()

# Headers are enough, and bring no second urdfdom with them.
if(TARGET pinocchio::pinocchio_headers)
  set(pinocchio pinocchio::pinocchio_headers)
else()
  set(pinocchio pinocchio::pinocchio)
endif()

set(yaml_cpp yaml-cpp)  # as it was called before 0.8
if(TARGET yaml-cpp::yaml-cpp)
  set(yaml_cpp yaml-cpp::yaml-cpp)
endif()

# The law and the program of its tests; `folder`: where the program goes, `flags`: of the compiler.
function(robodyn_add_law law folder flags)
  add_library(${law} STATIC
    src/additive_torque.cpp
    src/bounded_text.cpp
    src/closed_forms.cpp
    src/delta_part.cpp
    src/effort_command.cpp
    src/friction.cpp
    src/gear_maps.cpp
    src/gear_torque.cpp
    src/gear_torque_block.cpp
    src/guarded_torque.cpp
    src/model_torque.cpp
    src/payload.cpp
    src/payload_limit.cpp
    src/puma_part.cpp
    src/result_file.cpp
    src/result_hash.cpp
    src/robot_check.cpp
    src/urdf_part.cpp
  )
  target_compile_features(${law} PUBLIC cxx_std_17)
  set_target_properties(${law} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${law} PRIVATE -Wall -Wextra -Wpedantic -O2)
  target_compile_options(${law} PUBLIC ${flags})
  target_link_options(${law} PUBLIC ${flags})
  target_include_directories(${law} PUBLIC
    $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
  )
  target_include_directories(${law} SYSTEM PRIVATE ${urdfdom_headers_INCLUDE_DIRS})
  target_link_libraries(${law} PUBLIC ${pinocchio} PRIVATE ${yaml_cpp} urdfdom::urdfdom_model
    rcutils::rcutils)
  set(program ${law}_check)
  add_executable(${program} src/law_check.cpp)
  set_target_properties(${program} PROPERTIES
    OUTPUT_NAME law_check RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${folder})
  target_compile_options(${program} PRIVATE -Wall -Wextra -Wpedantic -O2)
  target_link_libraries(${program} PRIVATE ${law})
  install(TARGETS ${program} DESTINATION lib/${PROJECT_NAME}/${folder})
endfunction()

generate_parameter_library(feedforward_torque_controller_parameters
  src/feedforward_torque_controller_parameters.yaml
)
rosidl_get_typesupport_target(interfaces ${PROJECT_NAME} rosidl_typesupport_cpp)

# The class that the controller manager loads, with its law.
function(robodyn_add_controller controller law)
  add_library(${controller} SHARED
    src/controller_configuration.cpp
    src/controller_services.cpp
    src/feedforward_torque_controller.cpp
    src/state_queue.cpp
  )
  target_compile_options(${controller} PRIVATE -Wall -Wextra -Wpedantic -O2)
  target_link_libraries(${controller} PRIVATE
    ${law}
    feedforward_torque_controller_parameters
    ${interfaces}
    controller_interface::controller_interface
    pluginlib::pluginlib
    rclcpp::rclcpp
    rclcpp_lifecycle::rclcpp_lifecycle
    ${diagnostic_msgs_TARGETS}
    ${std_srvs_TARGETS}
  )
  install(TARGETS ${controller} DESTINATION lib)
endfunction()

robodyn_add_law(robodyn_law "" "")
robodyn_add_controller(robodyn_controller robodyn_law)
pluginlib_export_plugin_description_file(controller_interface robodyn_controller.xml)

option(ROBODYN_SANITIZERS "Build controller and law with sanitizers too, for their tests" OFF)
if(ROBODYN_SANITIZERS)
  robodyn_add_law(robodyn_law_sanitized sanitized
    "-g1;-fsanitize=address,undefined;-fno-sanitize-recover=all;-D_GLIBCXX_ASSERTIONS")
  robodyn_add_controller(robodyn_controller_sanitized robodyn_law_sanitized)
  pluginlib_export_plugin_description_file(controller_interface robodyn_controller_sanitized.xml)
endif()

# For the tests: preloaded into the controller manager, it measures the updates of controllers.
# It stands in for functions that another ros2_control than the one it was tested with may not have.
include(${CMAKE_CURRENT_LIST_DIR}/try_library.cmake)
robodyn_try_library(update_probe_builds ${CMAKE_CURRENT_SOURCE_DIR}/src/update_probe.cpp
  controller_interface controller_interface::controller_interface)
if(NOT update_probe_builds)
  message(STATUS "robodyn_ros: update_probe does not fit this ros2_control, its tests are skipped")
  return()
endif()
add_library(update_probe SHARED src/update_probe.cpp)
target_compile_features(update_probe PRIVATE cxx_std_17)
target_compile_options(update_probe PRIVATE -Wall -Wextra -Wpedantic -O2)
target_link_options(update_probe PRIVATE -Wl,--as-needed)  # processes without ROS get it, too
target_link_libraries(update_probe PRIVATE controller_interface::controller_interface
  ${CMAKE_DL_LIBS})
install(TARGETS update_probe DESTINATION lib/${PROJECT_NAME})
