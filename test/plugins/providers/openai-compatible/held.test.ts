import { describe, expect, it } from 'vitest'
import { createHeld } from '../../../../src/plugins/providers/exchange/held.js'
import { finish, reply, text } from '../../../fixtures/model-server.js'
import { createBench } from './setup.js'

const LARGE = 'QUJD'.repeat(50_000)
const OTHER = `${'REVG'.repeat(40_000)}QQ==`

describe('contents of large attachments', () => {
  it('are put into the bytes of a request, each where it stood', () => {
    const held = createHeld('mark')
    const [a, small, b, broken] = [LARGE, 'QUJD', OTHER, `${LARGE}"`].map((content) => held.hold(content, {}))
    expect([small, broken]).toEqual(['QUJD', `${LARGE}"`])
    const request = JSON.stringify({ b: `ü;${b}`, a, again: a, said: 'mark_ 0_ 😀' })
    expect(request.length).toBeLessThan(1000)
    const whole = { b: `ü;${OTHER}`, a: LARGE, again: LARGE, said: 'mark_ 0_ 😀' }
    expect(Buffer.from(held.fill(request)).toString('utf8')).toBe(JSON.stringify(whole))
  })

  it('are held only when they are base64, whatever stands in them, wherever', () => {
    const end = LARGE.length
    const others = ['"', '\\', '\n', '\u0000', ' ', 'ü', '😀', '\u2028', '=', '-"', '""""']
    // A mark or two at the end fill up what is base64.
    const places = others.flatMap((other) => [0, 1, 2, 3, end >> 1, end - 1, ...(other === '=' ? [] : [end])].map((at) => ({ other, at })))
    const kept = places.filter(({ other, at }) => {
      const broken = LARGE.slice(0, at) + other + LARGE.slice(at)
      return createHeld('mark').hold(broken, {}) === broken
    })
    expect(kept).toEqual(places)
    for (const ending of ['', 'QQ==', 'QQ', 'QUI=', 'QUI', '_-A-']) expect(createHeld('mark').hold(LARGE + ending, {})).toBe('mark_0_')
  })

  it('leave a request without them as it is', () => {
    expect(createHeld('mark').fill('{"a":"mark_0_"}')).toBe('{"a":"mark_0_"}')
  })

  it('arrive at the model as they were, of prompts and of results of tools', async () => {
    const { server, start } = await createBench([reply(text('a'), finish('stop'))])
    const image = (data: string) => ({ mime: 'image/png', url: `data:image/png;base64,${data}`, filename: 'a.png' })
    const { outcome } = start({
      request: {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'look' },
              { type: 'file', file: image(LARGE) },
            ],
          },
          { role: 'assistant', content: [{ type: 'tool-call', callId: 'c', tool: 'read', input: {} }] },
          { role: 'tool', results: [{ callId: 'c', tool: 'read', output: 'it', isError: false, attachments: [image(OTHER)] }] },
        ],
      },
    })
    expect((await outcome).error).toBeUndefined()
    const sent = JSON.stringify(server.requests[0]?.body?.messages)
    expect(sent).toContain(`"data:image/png;base64,${LARGE}"`)
    expect(sent).toContain(`"data:image/png;base64,${OTHER}"`)
    await server.close()
  })
})
