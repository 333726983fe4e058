# robodyn_ros on ROS 2 Jazzy: all packages of package.xml by rosdep, the others by pip.
#   docker build -t robodyn . && docker run -it --network host robodyn ros2 launch robodyn_ros bringup.launch.py
FROM ros:jazzy-ros-base-noble
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
WORKDIR /ws
ENV PIP_BREAK_SYSTEM_PACKAGES=1
COPY package.xml src/robodyn_ros/
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends python3-pip \
    && rosdep update --rosdistro "$ROS_DISTRO" \
    && rosdep install --from-paths src --ignore-src -y \
        --skip-keys "rviz2 rviz_default_plugins rqt_gui rqt_console rqt_plot rqt_robot_monitor rqt_topic" \
    && rm -rf /var/lib/apt/lists/*
# hadolint ignore=DL3013
RUN pip install --no-cache-dir "numpy<2" clarabel threadpoolctl mcap msgspec pyarrow "websockets>=13"
COPY . src/robodyn_ros
RUN . "/opt/ros/$ROS_DISTRO/setup.bash" && colcon build --packages-select robodyn_ros \
    && sed -i "\$isource /ws/install/setup.bash" /ros_entrypoint.sh \
    && useradd --create-home --uid 10001 robodyn
USER 10001
WORKDIR /home/robodyn
