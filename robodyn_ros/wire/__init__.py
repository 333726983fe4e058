# SPDX-License-Identifier: Apache-2.0
"""Serialised ROS messages, read and written without ROS.

Plain CDR, little endian (OMG DDSI-RTPS 2.2, section 10): four header bytes, then the body. A
number is aligned to its size, counted from the start of the body. A 32-bit count precedes each
sequence and each string.
"""
