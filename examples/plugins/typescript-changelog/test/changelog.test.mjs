import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChangelog } from '../package/changelog.js'
import { createTestHost } from '../package/svc-plugin.js'

const finished = (sessionID, tool, filePath, status = 'completed') => ({
  type: 'message.part.updated',
  properties: { sessionID, part: { type: 'tool', tool, state: { status, input: { filePath } } } },
})

test('lists the files a session changed, each once, and nothing of other sessions', async () => {
  const host = await createTestHost(createChangelog())
  await host.sendEvent(finished('ses_1', 'write', 'b.md'))
  await host.sendEvent(finished('ses_1', 'edit', 'a.md', 'running'))
  await host.sendEvent(finished('ses_1', 'edit', 'a.md'))
  await host.sendEvent(finished('ses_1', 'edit', 'b.md'))
  await host.sendEvent(finished('ses_2', 'write', 'c.md'))
  await host.sendEvent(finished('ses_1', 'read', 'd.md'))
  const { output } = await host.callTool('changed_files', {}, { sessionId: 'ses_1' })
  assert.equal(output, 'a.md (edit)\nb.md (edit)')
  await host.shutdown()
})

test('says so when nothing was changed', async () => {
  const host = await createTestHost(createChangelog())
  const { output } = await host.callTool('changed_files', {}, { sessionId: 'ses_1' })
  assert.equal(output, 'No file was changed in this session yet.')
  await host.shutdown()
})
