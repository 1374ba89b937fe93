# Untried. The archive is that of the release: brew install --formula ./imrec.rb, with url and sha256 of where it lies.
class Imrec < Formula
  desc "Image records to training batches"
  homepage "file:///path/to/imrec"
  url "file:///path/to/imrec-0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "Apache-2.0"

  depends_on "cmake" => :build
  depends_on "pkgconf" => :build
  depends_on "random123" => :build
  depends_on "expat"
  depends_on "giflib"
  depends_on "jansson"
  depends_on "jpeg-turbo"
  depends_on "libspng"
  depends_on "libtiff"
  depends_on "openssl@3"
  depends_on "webp"

  uses_from_macos "curl"
  uses_from_macos "zlib"

  on_macos do
    depends_on "libomp"
  end

  def install
    args = %w[-DIMREC_BUILD_TESTS=OFF -DIMREC_WITH_MPI=OFF -DCMAKE_DISABLE_FIND_PACKAGE_Python=ON]
    args << "-DOpenMP_ROOT=#{Formula["libomp"].opt_prefix}" if OS.mac?
    system "cmake", "-S", ".", "-B", "build", *args, *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/im2rec --version")
    assert_match "none.rec", shell_output("#{bin}/imrec info none.rec 2>&1", 1)
  end
end
