// Which tests apply to a cache of files that only GETs, and why the others do not.

const reasons = [
  ['not GET', 'images are fetched by GET, nothing else', test =>
    test.requests.some(request => (request.request_method ?? 'GET') !== 'GET')],
  ['request fields', 'what is stored may not depend on who asked, so callers send no header fields',
    test => test.requests.some(request => request.request_headers?.length)],
  ['CDN', '`CDN-Cache-Control` is for content delivery networks', test => test.cdn_only],
  ['browser', 'about the cache of a browser', test => test.browser_only],
  ['replayed fields', 'needs the fields of the stored response sent again, and a file has none',
    (test, suite) => ['headers', 'update304'].includes(suite.id) ||
      test.requests.some(request => request.expected_response_headers)]
]

export function select (tests, only) {
  const left = new Map(reasons.map(([name, why]) => [name, { why, ids: [] }]))
  const suites = tests.map(suite => ({
    ...suite,
    tests: suite.tests.filter(test => {
      if (only) return test.id === only
      const reason = reasons.find(([, , applies]) => applies(test, suite))
      if (reason) left.get(reason[0]).ids.push(test)
      return !reason
    })
  })).filter(suite => suite.tests.length)
  return { suites, left }
}

export const kind = test => test.kind ?? 'required'
