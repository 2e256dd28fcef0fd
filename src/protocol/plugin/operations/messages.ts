/** `host.message.read` (capability `message-read`): messages of the session that a plugin serves, and of those below it. */
import * as z from 'zod'
import { LIMITS } from '../../limits.js'
import { describeOperation } from './operation.js'
import { cursor, FOREIGN_SESSION, NO_SESSION, sessionId } from './served.js'

const { page, pageMost } = LIMITS.pluginReads

/** As the HTTP contract has it, with texts that are cut, without secrets, and without the bytes of files. */
const message = z.strictObject({
  info: z.record(z.string(), z.unknown()),
  parts: z.array(z.record(z.string(), z.unknown())),
  /** Some text of it was longer. */
  cut: z.boolean(),
})

export const messageOperations = {
  list: describeOperation({
    summary: 'Lists messages of a session, page by page.',
    input: z.strictObject({
      sessionId,
      cursor: cursor.optional(),
      limit: z.int().min(1).max(pageMost).default(page),
      order: z.enum(['latest-first', 'oldest-first']).default('latest-first'),
    }),
    output: z.strictObject({
      messages: z.array(message),
      /** Where the next page begins; null = there is none. A page may have fewer messages than `limit`. */
      cursor: cursor.nullable(),
    }),
    refusals: [NO_SESSION, FOREIGN_SESSION],
  }),
  get: describeOperation({
    summary: 'Answers one message.',
    input: z.strictObject({ messageId: z.string().min(1).max(200) }),
    output: z.strictObject({ message }),
    refusals: ['there is no such message in a session of its own'],
  }),
  sessions: describeOperation({
    summary: 'Lists a session and those below it.',
    input: z.strictObject({ sessionId }).nullish(),
    output: z.strictObject({
      sessions: z.array(
        z.strictObject({ sessionId: z.string(), parentId: z.string().nullable(), title: z.string(), agent: z.string().nullable() }),
      ),
    }),
    refusals: [NO_SESSION, FOREIGN_SESSION],
  }),
}
