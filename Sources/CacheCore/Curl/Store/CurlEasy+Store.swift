internal import CCurl

extension CurlEasy {
    /// Sets the options of a request to a store. CURLOPT_AWS_SIGV4(3).
    ///
    /// What libcurl 7.88 signs wrongly is kept out of requests: queries, repeated fields, fields of which one begins
    /// with another's name, paths with other characters than letters, digits, `-` and `/`.
    /// So paths need no CURLOPT_PATH_AS_IS(3), with which newer versions refuse to sign.
    func setOptions(of request: StoreRequest) throws(CurlError) {
        if let credentials = request.credentials {
            try set(CURLOPT_AWS_SIGV4, "aws:amz:\(request.region):s3")
            // Not in one option: a name may have a colon.
            try set(CURLOPT_USERNAME, credentials.keyID)
            try set(CURLOPT_PASSWORD, credentials.secret)
        }
        switch request.method {
        case .get: break
        case .head: try set(CURLOPT_NOBODY, 1)
        case .delete: try set(CURLOPT_CUSTOMREQUEST, "DELETE")
        case .copy:
            try set(CURLOPT_UPLOAD, 1)
            try set(CURLOPT_INFILESIZE_LARGE, bytes: 0)
        case .put(let file, _): try send(file, request.rate)
        }
    }

    /// Sends the bytes of a file. The request has to own the file for as long as it runs.
    private func send(_ file: UploadedFile, _ rate: Int64?) throws(CurlError) {
        try set(CURLOPT_UPLOAD, 1)
        try set(CURLOPT_INFILESIZE_LARGE, bytes: file.size)
        if let rate { try set(CURLOPT_MAX_SEND_SPEED_LARGE, bytes: rate) }
        let owner = Unmanaged.passUnretained(file).toOpaque()
        try set(CURLOPT_READDATA, pointer: owner)
        try setData(CURLOPT_READFUNCTION) { bytes, size, count, owner in
            let file = Unmanaged<UploadedFile>.fromOpaque(owner!).takeUnretainedValue()
            let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
            return file.read(into: buffer) ?? Int(CURL_READFUNC_ABORT)
        }
        try set(CURLOPT_SEEKDATA, pointer: owner)
        try setSeek { owner, offset, _ in
            Unmanaged<UploadedFile>.fromOpaque(owner!).takeUnretainedValue()
                .rewind(to: Int64(offset))
            return Int32(CURL_SEEKFUNC_OK)
        }
    }
}
