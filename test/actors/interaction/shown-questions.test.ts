/** What somebody is shown who decides about a call holds nothing unseen; what is judged and remembered is the text as it is (threat-model G5). */
import { expect, test } from 'vitest'
import type { PermissionRequest } from '../../../src/protocol/interaction/interaction.js'
import { calls, type PlayedTool, says, startTestService } from '../../fakes/service.js'

const echo: PlayedTool = {
  id: 'echo',
  needs: ({ value }) => [{ permission: 'echo', patterns: [value], title: `Echo ${value}` }],
  invoke: async ({ value }) => ({ title: 'Echo', output: value }),
}

const UNSEEN = ['\n', '\r', '\t', '\u0000', '\u001b[2K', '\u202e', '\u2066', '\u200b', '\u2028', '\ufeff', '\u{e0041}']
const SEEN = ['plain', 'naïve 漢字', 'a*b?', '\u0430pple', '\u{1f600}']

async function asked(value: string): Promise<PermissionRequest> {
  const service = await startTestService({ tools: [echo], config: { permission: { '*': 'allow', echo: 'ask' } } })
  const sessionId = await service.session()
  service.steps.push(calls({ callId: 'c1', tool: 'echo', input: { value } }), says('done'))
  await service.prompt(sessionId, 'go')
  const { data } = await service.until(({ type }) => type === 'permission.asked')
  return data as unknown as PermissionRequest
}

test.each(UNSEEN)('%j is written out in the title', async (mark) => {
  const { title, patterns } = await asked(`rm${mark}x`)
  expect(title).toMatch(/^Echo rm\\(?:[nrt]|u\{[\da-f]+\})/)
  expect(title).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
  expect(patterns).toEqual([`rm${mark}x`])
})

test.each(SEEN)('%j stays as it is', async (text) => {
  expect((await asked(text)).title).toBe(`Echo ${text}`)
})
