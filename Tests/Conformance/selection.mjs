// Selects the tests that apply to a cache of files that only sends GET, with reasons for the others.

const reasons = [
  ['not GET', 'images are fetched by GET only', test =>
    test.requests.some(request => (request.request_method ?? 'GET') !== 'GET')],
  ['request fields', 'stored images do not depend on the caller, so callers send no header fields',
    test => test.requests.some(request => request.request_headers?.length)],
  ['CDN', '`CDN-Cache-Control` is for content delivery networks', test => test.cdn_only],
  ['browser', 'these test the cache of a browser', test => test.browser_only],
  ['replayed fields', 'these need the header fields of the stored response, and a file has none',
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
