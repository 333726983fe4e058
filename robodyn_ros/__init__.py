"""Robot dynamics in ROS 2: excitation, recording, identification, feed-forward, collision.

The interfaces that rosidl generates (`robodyn_ros.msg`, `.srv`, `.action`) lie in the installed
package of the same name: with both on the path, they are one module.
"""

from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)
__version__ = '0.1.0'
