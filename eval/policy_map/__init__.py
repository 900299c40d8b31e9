# SPDX-License-Identifier: GPL-2.0-or-later
"""What has a policy learned? Its action over queue and own rate, as a picture."""
