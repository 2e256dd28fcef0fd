// Holds plugin-protocol §13-3.
import { describe, expect, test } from 'vitest'
import { envelopeOf } from '../../../src/actors/plugin/link/frame-envelope.js'

const of = (text: string) => envelopeOf(Buffer.from(text))

describe('what a frame says of itself', () => {
  test.each([
    ['{"id":1,"method":"host.workspace.write","params":{"id":2,"method":"x"}}', { id: 1, method: 'host.workspace.write' }],
    ['{ "params" : [ { "id" : 7 } , "id" , 8 ] , "method" : "m" , "id" : 12 }', { id: 12, method: 'm' }],
    ['{"result":{"text":"\\"id\\":3,"},"id":4}', { id: 4, method: undefined }],
    ['{"text":"id","other":5,"id":6}', { id: 6, method: undefined }],
    ['{"id":0,"error":"\\\\"}', { id: 0, method: undefined }],
    ['{"i\\u0064":1}', undefined],
    ['{"id":"1","method":"m"}', undefined],
    ['{"id":null}', undefined],
    ['{"id":1.5}', undefined],
    ['{"id":-1}', undefined],
    ['{"id":12', undefined],
    ['[{"id":1}]', undefined],
    ['{"id', undefined],
    ['{"id":', undefined],
    ['', undefined],
  ])('%s', (text, expected) => {
    expect(of(text)).toEqual(expected)
  })

  test('is what a parser finds, in frames with all sorts of values around it', () => {
    const values = [null, true, 1.5e3, 'a"b\\', '}{', ['id', { id: 9 }], { method: 'inner', id: [1] }, '', [], {}]
    for (const [at, first] of values.entries())
      for (const second of values) {
        const frame = { first, id: at, nested: { second }, method: `m${at}`, second }
        for (const space of [undefined, 2]) expect(of(JSON.stringify(frame, null, space))).toEqual({ id: at, method: `m${at}` })
      }
  })

  test.each([
    ['names', '"":0,'],
    ['names without values', '"",'],
    ['ids', '"id":1x,'],
  ])('is not looked for behind %s without number', (_, member) => {
    expect(of(`{${member.repeat(40)}"id":7,"x":0}`)).toEqual({ id: 7, method: undefined })
    expect(of(`{${member.repeat(400)}"id":7,"x":0}`)?.id).not.toBe(7)
  })
})
