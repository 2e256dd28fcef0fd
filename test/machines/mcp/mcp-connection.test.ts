// Holds subsystems f.2, f.3.
import { describe, expect, it } from 'vitest'
import { type McpConnectionEvent, mcpConnectionMachine } from '../../../src/machines/mcp/mcp-connection.machine.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { explore, missing } from '../paths.js'

const done = (actorId: string, output?: unknown) => ({ type: `xstate.done.actor.${actorId}`, output, actorId })
const error = (actorId: string) => ({ type: `xstate.error.actor.${actorId}`, error: new Error('broken'), actorId })
const lost: McpConnectionEvent = { type: 'connection.lost', reason: 'it is gone' }
const explored = explore(
  mcpConnectionMachine,
  { server: 'files', directory: '/srv' },
  [
    { type: 'connect.requested' },
    { type: 'connect.wanted' },
    { type: 'disconnect.requested' },
    { type: 'retire.requested' },
    lost,
    { type: 'session.lost' },
    { type: 'authorization.lost' },
    done('connect', 'connected'),
    done('connect', 'unauthorised'),
    done('connect', 'unregistered'),
    error('connect'),
    error('serve'),
    ...['break', 'close', 'retire'].flatMap((id) => [done(id), error(id)]),
    { type: 'xstate.after.strikeWindow.mcp-connection.connected' },
    { type: 'xstate.after.rest.mcp-connection.failed.resting' },
  ],
  { key: ({ context: { strikes, reason } }) => [Math.min(strikes, LIMITS.mcp.retry.tries), reason !== undefined] },
)

describe('the machine of a connection to an MCP server', () => {
  it('has every transition covered by generated paths', () => {
    expect(missing(explored)).toEqual([])
  })

  it('is connected, or says why it is not', () => {
    const reasons = (isMeant: (snapshot: (typeof explored.snapshots)[number]) => boolean) =>
      new Set(explored.snapshots.filter(isMeant).map(({ context }) => typeof context.reason))
    expect(reasons((snapshot) => snapshot.hasTag('connected'))).toEqual(new Set(['undefined']))
    expect(reasons((snapshot) => snapshot.matches('failed'))).toEqual(new Set(['string']))
  })

  it('rests after the last strike, and may be tried at once before it', () => {
    const failed = explored.snapshots.filter((snapshot) => snapshot.matches({ failed: 'ripe' }))
    expect(new Set(failed.map(({ context }) => Math.min(context.strikes, LIMITS.mcp.retry.tries)))).toEqual(new Set([1, 2, 3]))
  })
})
