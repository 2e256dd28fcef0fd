/** Bodies of JSON, as text, that no client means: every shape a value can take, at a size. */

/** One value as JSON text of about `bytes`. `sample` is a value the schema takes. */
export type Shape = (bytes: number, sample: string) => string

const times = (text: string, bytes: number) => text.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(text))))
const list = (item: string, bytes: number) => `[${times(`${item},`, bytes)}${item}]`
const table = (item: string, bytes: number) => {
  const each = item.length + 12
  return `{${Array.from({ length: Math.max(1, Math.floor(bytes / each)) }, (_, index) => `"k${index.toString(36).padStart(6, '0')}":${item}`).join(',')}}`
}
const nested = (open: string, close: string, bytes: number) => {
  const depth = Math.max(1, Math.floor(bytes / (open.length + close.length)))
  return `${open.repeat(depth)}0${close.repeat(depth)}`
}

export const SHAPES: Readonly<Record<string, Shape>> = {
  null: () => 'null',
  true: () => 'true',
  'a number': () => '-1e308',
  'a long number': (bytes) => times('9', bytes),
  'a long text': (bytes) => `"${times('x', bytes)}"`,
  'a text of lines': (bytes) => `"${times('a\\n', bytes)}"`,
  'a text of escapes': (bytes) => `"${times('\\u00e9', bytes)}"`,
  'a text of emoji': (bytes) => `"${times('😀', bytes)}"`,
  'a text of halves': (bytes) => `"${times('\\ud83d', bytes)}"`,
  'a text of brackets': (bytes) => `"${times('[{', bytes)}"`,
  'a text of dollars': (bytes) => `"${times('$(', bytes)}"`,
  'a text of base64': (bytes) => `"data:image/png;base64,${times('AAAA', bytes)}"`,
  'empty texts': (bytes) => list('""', bytes),
  'empty lists': (bytes) => list('[]', bytes),
  'empty objects': (bytes) => list('{}', bytes),
  nulls: (bytes) => list('null', bytes),
  zeros: (bytes) => list('0', bytes),
  'mixed items': (bytes) => list('1,"a",null,{"a":[]},[true]', bytes),
  samples: (bytes, sample) => list(sample, bytes),
  'samples and a wrong one': (bytes, sample) => `[${times(`${sample},`, bytes)}{}]`,
  'many keys': (bytes) => table('null', bytes),
  'many samples': (bytes, sample) => table(sample, bytes),
  'many objects': (bytes) => table('{"a":{}}', bytes),
  'the same key': (bytes) => `{${times('"a":1,', bytes)}"a":1}`,
  'prototype keys': (bytes) => list('{"\\u005f_proto__":{}}', bytes),
  'deep lists': (bytes) => nested('[', ']', bytes),
  'deep objects': (bytes) => nested('{"a":', '}', bytes),
  'as deep as may be': (bytes) => list(nested('{"a":', '}', 600), bytes),
  blanks: (bytes) => `${times(' ', bytes)}0`,
  lines: (bytes) => `${times('\n', bytes)}0`,
  'no end': (bytes) => `[${times('"a",', bytes)}`,
  'no quote': (bytes) => `"${times('\\"', bytes)}`,
  'no JSON': (bytes) => times('}', bytes),
}
