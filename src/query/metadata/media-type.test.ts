// What bytes are, whatever they are called.
import { expect, test } from 'vitest'
import { mediaTypeOf, pixelSizeOf } from './media-type.ts'

const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>'

test.each([
  ['image/png', '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', '\xff\xd8\xff\xe0'],
  ['image/gif', 'GIF89a\x02\x00\x03\x00'],
  ['image/webp', 'RIFF\x00\x00\x00\x00WEBPVP8 '],
  ['image/avif', '\x00\x00\x00\x20ftypavif'],
  ['video/mp4', '\x00\x00\x00\x20ftypisom'],
  ['audio/mpeg', 'ID3\x03'],
  ['image/svg+xml', svg],
  ['image/svg+xml', `\n<?xml version="1.0"?>\n<!-- made -->\n<!DOCTYPE svg PUBLIC "a" "b">\n${svg}`],
])('%s', (type, text) => {
  expect(mediaTypeOf(Buffer.from(text, 'latin1'))).toBe(type)
})

test.each([
  ...[
    '',
    'x',
    '<!DOCTYPE html><svg>',
    '<html><svg></svg></html>',
    '<p><svg>',
    '{"a":1}',
    '<?xml version="1.0"?><html/>',
  ],
  ...['<script>', '%PDF-1.7', '<svgx>', '<!--', `${' '.repeat(4_096)}${svg}`],
])('%s is none', text => {
  expect(mediaTypeOf(Buffer.from(text))).toBeUndefined()
})

test('sizes that formats say at their beginning', () => {
  expect(pixelSizeOf(Buffer.from('GIF89a\x02\x00\x03\x00', 'latin1'), 'image/gif')).toEqual({ width: 2, height: 3 })
  expect(pixelSizeOf(Buffer.from('GIF89a'), 'image/gif')).toBeUndefined()
  expect(pixelSizeOf(Buffer.from(svg), 'image/svg+xml')).toBeUndefined()
})
