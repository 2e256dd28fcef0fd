/** Running a command in a session (http-contract §2.6; subsystems b.9). */
import * as z from 'zod'
import { GivenUserModel, Message } from '../message/message.js'
import { defineRoute } from '../route.js'
import { ClientMessageId } from '../shared.js'

export const SessionCommandRequest = z
  .strictObject({
    command: z.string().min(1).max(1000),
    arguments: z.string().optional(),
    agent: z.string().optional(),
    model: GivenUserModel.optional(),
    messageId: ClientMessageId.optional(),
  })
  .meta({ id: 'SessionCommandRequest' })
export type SessionCommandRequest = z.infer<typeof SessionCommandRequest>

export const SessionShellRequest = z
  .strictObject({
    command: z.string().min(1).max(100_000),
    agent: z.string().optional(),
    model: GivenUserModel.optional(),
    messageId: ClientMessageId.optional(),
  })
  .meta({ id: 'SessionShellRequest' })
export type SessionShellRequest = z.infer<typeof SessionShellRequest>

export const commandRoutes = {
  execute: defineRoute({
    id: 'v2.sessions.commands.execute',
    method: 'POST',
    path: '/v2/sessions/{session_id}/commands',
    tag: 'sessions',
    access: { class: 'session', param: 'session_id' },
    params: z.strictObject({ session_id: z.string() }),
    summary:
      'Run a command: its template with the arguments is a prompt of its own. Answers when the session is settled; a command that is delegated, when the session has answered what came of it.',
    body: { schema: SessionCommandRequest, required: true },
    success: { status: 200, description: 'The last answer; the prompt itself when it was not answered.', schema: Message },
  }),
  shell: defineRoute({
    id: 'v2.sessions.shell',
    method: 'POST',
    path: '/v2/sessions/{session_id}/shell',
    tag: 'sessions',
    access: { class: 'session', param: 'session_id' },
    params: z.strictObject({ session_id: z.string() }),
    summary:
      'Run a shell command as the tool bash does, under the same permission rules; no model is asked. Answers when the session is settled.',
    body: { schema: SessionShellRequest, required: true },
    success: { status: 200, description: 'The message that holds the call of the tool.', schema: Message },
  }),
} as const
