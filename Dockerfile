# Image in which ns3-env runs with nothing installed but Docker.
#   docker build -t ns3-env .
#   docker run --rm -it --shm-size=1g --user "$(id -u):$(id -g)" -v "$PWD:/work" ns3-env train --config fdcc --curriculum incast
# SPDX-License-Identifier: GPL-2.0-or-later

FROM python:3.11-slim-bookworm AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends g++ \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheel .

FROM python:3.11-slim-bookworm
COPY --from=build /wheel /wheel
COPY constraints.txt /wheel/
# The `+cpu` build of PyTorch is a third of the size: --build-arg TORCH_INDEX=... names an index that has it.
ARG TORCH_INDEX=
RUN pip install --no-cache-dir --constraint /wheel/constraints.txt ${TORCH_INDEX:+--extra-index-url "$TORCH_INDEX"} torch \
    && pip install --no-cache-dir --constraint /wheel/constraints.txt "$(ls /wheel/*.whl)[all]" \
    && rm -r /wheel \
    && useradd --create-home user \
    && install --directory --owner=user --mode=1777 /work
USER user
WORKDIR /work
# For a user without an entry in /etc/passwd (docker run --user).
ENV HOME=/tmp MPLCONFIGDIR=/tmp/matplotlib
ENTRYPOINT ["ns3-env"]
CMD ["--help"]
