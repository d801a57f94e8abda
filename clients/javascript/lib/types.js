/** The types of images, by their first bytes. */
import { closeSync, openSync, readSync } from 'node:fs'

const starts = [
  [/^\xff\xd8\xff/, 'image/jpeg'], [/^\x89PNG\r\n\x1a\n/, 'image/png'], [/^GIF8[79]a/, 'image/gif'],
  [/^RIFF.{4}WEBP/s, 'image/webp'], [/^.{4}ftypavi[fs]/s, 'image/avif'],
  [/^.{4}ftyp(hei[cxms]|hev[cxms]|mif1|msf1)/s, 'image/heic'], [/^(\xff\x0a|\0\0\0\x0cJXL \r\n\x87\n)/, 'image/jxl'],
  [/^BM.{4}\0\0\0\0/s, 'image/bmp'], [/^(II\*\0|MM\0\*)/, 'image/tiff'],
  [/^\0\0\x01\0[^\0]/, 'image/vnd.microsoft.icon'],
]

/** The type of an image that begins with these bytes; undefined if it is none that the cache takes by default. */
export function mediaType(bytes) {
  const text = Buffer.from(bytes.subarray(0, 32)).toString('latin1')
  return starts.find(([pattern]) => pattern.test(text))?.[1]
}

/** The type of an image file; undefined if it has none, or cannot be read. */
export function typeOfFile(path) {
  let file
  try {
    file = openSync(path, 'r')
    const start = Buffer.alloc(32)
    return mediaType(start.subarray(0, readSync(file, start)))
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}
