# shellcheck shell=bash
# Enter the environment that `make build` made, in bash or zsh:  . ./env.sh
# It holds ROS 2 (the sourced one, or the wheels in .venv), the built interfaces and this checkout,
# whose Python sources come first: they can be edited without a new build.

_robodyn_first() { # variable, entries: put the entries in front, once
    eval "_robodyn_old=\${$1-}"
    case "$_robodyn_old:" in
        "$2:"*) ;;
        *) eval "export $1=\"\$2\${_robodyn_old:+:\$_robodyn_old}\"" ;;
    esac
}

_robodyn_wheels() { # venv: the wheels are an ament prefix; their libraries lie in many folders
    _robodyn_libs=$1/lib
    for _robodyn_entry in "$1"/lib/python3*/site-packages/ros_*.libs; do
        _robodyn_libs=$_robodyn_libs:$_robodyn_entry
    done
    _robodyn_first LD_LIBRARY_PATH "$_robodyn_libs"
    _robodyn_first AMENT_PREFIX_PATH "$1"
    _robodyn_first CMAKE_PREFIX_PATH "$1"
    # Without this mark, importing rclpy would start Python a second time to set the library path.
    export _ROS_WHEELS_BOOTSTRAP_COMPLETE=1
}

_robodyn_system() { # venv: the ROS 2 it was made on, unless the shell has sourced it already
    _robodyn_ros=$(cat "$1/ros_prefix")
    case ":${AMENT_PREFIX_PATH-}:" in
        *":$_robodyn_ros:"*) ;;
        *) . "$_robodyn_ros/setup.${ZSH_VERSION:+z}${BASH_VERSION:+ba}sh" ;;
    esac
}

_robodyn_package() { # root: the built package in front of ROS 2, the checkout in front of all
    _robodyn_install=$1/install/robodyn_ros
    _robodyn_hook=$_robodyn_install/share/robodyn_ros/environment/pythonpath.dsv
    if [ ! -f "$_robodyn_hook" ]; then
        _robodyn_first PYTHONPATH "$1"
        return 0
    fi
    _robodyn_entry=$(sed -n 's/.*;PYTHONPATH;//p' "$_robodyn_hook")
    _robodyn_first PYTHONPATH "$1:$_robodyn_install/$_robodyn_entry"
    _robodyn_first AMENT_PREFIX_PATH "$_robodyn_install"
    _robodyn_first CMAKE_PREFIX_PATH "$_robodyn_install"
    _robodyn_first LD_LIBRARY_PATH "$_robodyn_install/lib"
    _robodyn_first PATH "$_robodyn_install/bin"
}

_robodyn_enter() { # root
    if [ ! -f "$1/.venv/complete" ]; then
        echo "robodyn: there is no finished environment in $1/.venv: run make build first" >&2
        return 1
    fi
    if [ -f "$1/.venv/ros_prefix" ]; then
        _robodyn_system "$1/.venv"
    else
        _robodyn_wheels "$1/.venv"
    fi
    export VIRTUAL_ENV="$1/.venv"
    _robodyn_first PATH "$1/.venv/bin"
    _robodyn_package "$1"
}

if [ -n "${ZSH_VERSION-}" ]; then
    eval '_robodyn_root=${${(%):-%x}:A:h}'
else
    _robodyn_root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
fi
_robodyn_enter "$_robodyn_root"
_robodyn_status=$?
unset -f _robodyn_first _robodyn_wheels _robodyn_system _robodyn_package _robodyn_enter
unset _robodyn_old _robodyn_libs _robodyn_entry _robodyn_ros _robodyn_install _robodyn_hook _robodyn_root
return "$_robodyn_status"
