// Holds sessions-events §11.1.
import { expect, test } from 'vitest'
import { EVENT_SENTENCES } from '../../src/protocol/event/event-sentences.js'
import { eventSource } from '../../src/protocol/event/event-source.js'

test('an event of a built-in plugin names it, every other the core', () => {
  const others = Object.keys(EVENT_SENTENCES).flatMap((type) => (eventSource(type) === 'svc.core' ? [] : [`${type} ${eventSource(type)}`]))
  expect(others.toSorted()).toEqual([
    'lsp.updated dev.svc.lsp',
    'mcp.tools.changed dev.svc.mcp',
    'pty.created dev.svc.pty',
    'pty.deleted dev.svc.pty',
    'pty.exited dev.svc.pty',
    'pty.updated dev.svc.pty',
    'vcs.branch.updated dev.svc.vcs',
    'vcs.updated dev.svc.vcs',
    'workflow.run.updated dev.svc.workflows',
    'workflow.updated dev.svc.workflows',
  ])
  expect(eventSource('subagent.stopped')).toBe('dev.svc.subagents')
})
