# lt-audit with the cuBLASLt of one CUDA release; other releases: --build-arg CUDA_VERSION=13.0.1 --build-arg CUBLAS=libcublas-13-0.
#
#   docker build --tag lt-audit:0.1.0 .
#   docker run --rm --gpus all --volume "$PWD:/reports" --user "$(id -u)" lt-audit:0.1.0
ARG CUDA_VERSION=13.0.2

FROM nvidia/cuda:${CUDA_VERSION}-devel-ubuntu24.04 AS build
WORKDIR /src
COPY . .
RUN scripts/install_packages.sh build \
    && cmake --preset release -DLT_AUDIT_TESTS=OFF \
    && cmake --build build/release --parallel --target lt-audit \
    && cpack --config build/release/CPackConfig.cmake -G DEB -B /packages

# base and libcublas instead of runtime: that one also has NPP, cuFFT, cuSPARSE and the like, which nothing here opens.
FROM nvidia/cuda:${CUDA_VERSION}-base-ubuntu24.04
ARG CUBLAS=libcublas-13-0
COPY --from=build /packages/*.deb /tmp/
# The release of libcublas stands in its name; its patch level is the newest, which the report names.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends "${CUBLAS}" /tmp/*.deb \
    && rm -rf /tmp/*.deb /var/lib/apt/lists/* \
    && useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin lt-audit \
    && mkdir /reports && chown lt-audit /reports
USER 10001
WORKDIR /reports
ENTRYPOINT ["lt-audit"]
CMD ["run"]
