# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Enter the environment that `make build` made, in bash or zsh:  . ./env.sh
#
# It holds a ROS 2 (the one that was sourced for the build, or the wheels in .venv), the package as
# built, and this checkout: its Python sources come first and can be edited without a new build.

_robodyn_first() { # variable, entries: put the entries in front, once
    eval "_robodyn_old=\${$1-}"
    case "$_robodyn_old:" in
        "${2:-$_robodyn_old}:"*) ;;
        *) eval "export $1=\"\$2\${_robodyn_old:+:\$_robodyn_old}\"" ;;
    esac
}

_robodyn_foreign_ros() { # root: print the prefix of a sourced ROS 2 that is not this checkout's
    printf '%s\n' "${AMENT_PREFIX_PATH-}" | tr ':' '\n' | while read -r _robodyn_entry; do
        case "$_robodyn_entry/" in
            /) ;;
            "$1"/*) ;;
            *)
                if [ -e "$_robodyn_entry/share/ament_index/resource_index/packages/rclpy" ]; then
                    printf '%s\n' "$_robodyn_entry"
                    break
                fi
                ;;
        esac
    done
}

_robodyn_wheels() { # root: the wheels are one ROS prefix, with libraries in many folders
    _robodyn_old=$(_robodyn_foreign_ros "$1")
    if [ -n "$_robodyn_old" ]; then
        echo "robodyn: $_robodyn_old is sourced, but $1/.venv was made without:" \
            "run make build to use it, or open a new shell" >&2
        return 1
    fi
    _robodyn_prefixes=$1/.venv
    _robodyn_libs=$1/.venv/lib
    for _robodyn_entry in "$1"/.venv/lib/python3*/site-packages/ros_*.libs; do
        _robodyn_libs=$_robodyn_libs:$_robodyn_entry
    done
    # Without this, a Python that imports rclpy starts anew to set its library path.
    export _ROS_WHEELS_BOOTSTRAP_COMPLETE=1
}

_robodyn_system() { # root: the ROS 2 that the environment stands on, unless it is sourced already
    _robodyn_ros=$(cat "$1/.venv/ros_setup")
    case ":${AMENT_PREFIX_PATH-}:" in
        *":$_robodyn_ros:"* | *":$_robodyn_ros/"*) return 0 ;;
    esac
    if [ ! -f "$_robodyn_ros/setup.bash" ]; then
        echo "robodyn: $1/.venv stands on the ROS 2 in $_robodyn_ros, which is gone:" \
            "run make build" >&2
        return 1
    fi
    if [ -n "${ZSH_VERSION-}" ]; then
        . "$_robodyn_ros/setup.zsh"
    else
        . "$_robodyn_ros/setup.bash"
    fi
}

_robodyn_package() { # root: the package as built comes before ROS 2, the checkout before it
    _robodyn_built=$1/install/robodyn_ros
    _robodyn_hook=$_robodyn_built/share/robodyn_ros/environment/pythonpath.dsv
    [ -f "$_robodyn_hook" ] || return 0
    _robodyn_modules=$1:$_robodyn_built/$(sed -n 's/.*;PYTHONPATH;//p' "$_robodyn_hook")
    _robodyn_prefixes=$_robodyn_built${_robodyn_prefixes:+:$_robodyn_prefixes}
    _robodyn_libs=$_robodyn_built/lib${_robodyn_libs:+:$_robodyn_libs}
    _robodyn_bins=$_robodyn_built/bin:$_robodyn_bins
}

_robodyn_enter() { # root
    if [ ! -f "$1/.venv/complete" ]; then
        echo "robodyn: there is no finished environment in $1/.venv: run make build first" >&2
        return 1
    fi
    _robodyn_prefixes=
    _robodyn_libs=
    _robodyn_modules=$1
    _robodyn_bins=$1/.venv/bin
    if [ -f "$1/.venv/ros_setup" ]; then
        _robodyn_system "$1" || return 1
    else
        _robodyn_wheels "$1" || return 1
    fi
    _robodyn_package "$1"
    export VIRTUAL_ENV="$1/.venv"
    # Packages are installed uncompiled. Many containers set this: every start of a node would
    # compile them again, which takes longer than all the rest of it.
    unset PYTHONDONTWRITEBYTECODE
    _robodyn_first PATH "$_robodyn_bins"
    _robodyn_first PYTHONPATH "$_robodyn_modules"
    _robodyn_first LD_LIBRARY_PATH "$_robodyn_libs"
    _robodyn_first AMENT_PREFIX_PATH "$_robodyn_prefixes"
    _robodyn_first CMAKE_PREFIX_PATH "$_robodyn_prefixes"
}

if [ -n "${ZSH_VERSION-}" ]; then
    eval '_robodyn_root=${${(%):-%x}:A:h}'
else
    _robodyn_root=$(cd "$(dirname "${BASH_SOURCE-}")" && pwd -P)
fi
_robodyn_status=0
_robodyn_enter "$_robodyn_root" || _robodyn_status=1
unset -f _robodyn_first _robodyn_foreign_ros _robodyn_wheels _robodyn_system _robodyn_package
unset -f _robodyn_enter
unset _robodyn_old _robodyn_entry _robodyn_ros _robodyn_built _robodyn_hook _robodyn_root
unset _robodyn_prefixes _robodyn_libs _robodyn_modules _robodyn_bins
# The last command's status is that of sourcing this file; the variable goes with it.
eval "unset _robodyn_status; [ $_robodyn_status -eq 0 ]"
