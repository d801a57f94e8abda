internal import CCurl
import Glibc

/// The certificates that libcurl trusts unless it is configured otherwise.
enum SystemCertificates {
    /// The file of certificates that libcurl was built to trust, if it cannot be read: then no https server can be
    /// verified. `nil` if it can be read, or if libcurl trusts a directory alone. curl_version_info(3), access(2).
    static var missingFile: String? {
        guard let file = curl_version_info(CURLVERSION_SEVENTH).pointee.cainfo,
            access(file, R_OK) != 0
        else { return nil }
        return String(cString: file)
    }
}
