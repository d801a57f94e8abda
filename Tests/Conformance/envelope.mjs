// A response with its head in front, in the form of message/http (RFC 9112 §10.1).

export function join (status, reason, fields, body) {
  const lines = [`HTTP/1.1 ${status} ${reason}`]
  for (const [name, value] of fields) lines.push(`${name}: ${value}`)
  return Buffer.from(lines.join('\r\n') + '\r\n\r\n' + body, 'utf8')
}

export function split (envelope) {
  const end = envelope.indexOf('\r\n\r\n')
  if (end < 0) throw new Error('the file holds no response of the suite')
  const [first, ...lines] = envelope.toString('utf8', 0, end).split('\r\n')
  const [, status, reason] = /^HTTP\/1\.1 (\d+) ?(.*)$/.exec(first)
  const fields = lines.map(line => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon), line.slice(colon + 2)]
  })
  return { status: Number(status), reason, fields, body: envelope.toString('utf8', end + 4) }
}
