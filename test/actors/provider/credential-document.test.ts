import { expect, test } from 'vitest'
import {
  type Connection,
  connectionFor,
  connectionsOf,
  defaultOf,
  EMPTY,
  readDocument,
  summaryOf,
  withConnection,
  withDefault,
  withoutConnection,
  writeDocument,
} from '../../../src/actors/provider/credentials/document.js'

const connection = (connectionId: string, extra: Partial<Connection> = {}): Connection => ({
  providerId: 'vendor',
  connectionId,
  label: connectionId,
  workspaceId: undefined,
  credential: { type: 'api', key: `key of ${connectionId}` },
  endpoint: 'https://vendor.example/v1',
  ...extra,
})
const here = { workspaceIds: ['/here'], connectionId: undefined }

test('of several connections the chosen one is used, else the oldest; without the chosen one the oldest again', () => {
  const two = withConnection(withConnection(EMPTY, connection('conn_b')), connection('conn_a'))
  expect(defaultOf(two, 'vendor', undefined)?.connectionId).toBe('conn_b')
  const chosen = withDefault(two, connection('conn_a'))
  expect(connectionsOf(chosen, 'vendor', undefined).map((one) => summaryOf(chosen, one).isDefault)).toEqual([false, true])
  expect(defaultOf(withoutConnection(chosen, connection('conn_a')), 'vendor', undefined)?.connectionId).toBe('conn_b')
})

test('a workspace uses its own connection, else one for all; a named one of another workspace is not there', () => {
  const all = withConnection(EMPTY, connection('conn_all'))
  const both = withConnection(all, connection('conn_here', { workspaceId: '/here' }))
  expect(connectionFor(all, 'vendor', here)?.connectionId).toBe('conn_all')
  expect(connectionFor(both, 'vendor', here)?.connectionId).toBe('conn_here')
  expect(connectionFor(both, 'vendor', { ...here, connectionId: 'conn_all' })?.connectionId).toBe('conn_all')
  expect(connectionFor(both, 'vendor', { workspaceIds: ['/there'], connectionId: 'conn_here' })).toBeUndefined()
  const more = { workspaceIds: ['ws_1', '/here'], connectionId: undefined }
  expect(connectionFor(both, 'vendor', more)?.connectionId).toBe('conn_here')
  expect(connectionFor(withConnection(both, connection('conn_ws', { workspaceId: 'ws_1' })), 'vendor', more)?.connectionId).toBe('conn_ws')
})

test('what others write beside connections stays through a change', () => {
  const file = {
    version: 2,
    theirs: { a: 1 },
    connections: {
      vendor: {
        conn_a: { label: 'A', scope: { tenantId: 'local', theirs: 2 }, credential: { type: 'api', key: 'k' }, theirs: [3] },
        conn_b: { theirs: 'another kind of entry' },
      },
      '__proto__ ': {},
    },
    defaults: { vendor: { 'local\0': 'conn_a' } },
  }
  const document = readDocument(JSON.parse(JSON.stringify(file))) ?? EMPTY
  const [found] = connectionsOf(document, 'vendor', undefined)
  const after: unknown = JSON.parse(writeDocument(withConnection(document, { ...connection('conn_a'), ...found, label: 'B' })))
  expect(after).toEqual({
    ...file,
    connections: { ...file.connections, vendor: { ...file.connections.vendor, conn_a: { ...file.connections.vendor.conn_a, label: 'B' } } },
  })
})

test('a file of the old form is read as one connection, and stays one until something is stored that it cannot say', () => {
  const old = { vendor: { type: 'api', key: 'k', theirs: 1 }, other: { type: 'unheard-of' } }
  const document = readDocument(old) ?? EMPTY
  expect(connectionsOf(document, 'vendor', undefined)).toMatchObject([
    { connectionId: 'conn_legacy', label: 'Default', endpoint: undefined },
  ])
  expect(connectionsOf(document, 'other', undefined)).toEqual([])
  expect(JSON.parse(writeDocument(document))).toEqual(old)
  const removed = withoutConnection(document, connection('conn_legacy'))
  expect(JSON.parse(writeDocument(removed))).toEqual({ other: old.other })
  expect(JSON.parse(writeDocument(withConnection(document, connection('conn_a'))))).toMatchObject({
    version: 2,
    connections: { vendor: { conn_legacy: { credential: old.vendor }, conn_a: {} } },
  })
})

test.each([[[]], ['text'], [{ version: 3 }], [{ version: 2 }], [{ version: 2, connections: [] }], [{ version: 2, connections: { a: 1 } }]])(
  '%j is no credential file',
  (value) => {
    expect(readDocument(value)).toBeUndefined()
  },
)
