/** What may be handed to the library as a message; it checks the rest itself. */
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { isRecord } from '../../../protocol/text/json.js'

export function isMessage(value: unknown): value is JSONRPCMessage {
  if (!isRecord(value) || value['jsonrpc'] !== '2.0') return false
  return typeof value['method'] === 'string' || value['result'] !== undefined || value['error'] !== undefined
}
