/**
 * `host.response.transform` (capability `response-transform`): the text of an answer while it is recorded. With the same capability the hook
 * `response.text` is asked when the text of a step has ended.
 */
import * as z from 'zod'
import { LIMITS } from '../../limits.js'
import { describeOperation } from './operation.js'
import { FOREIGN_SESSION, NO_SESSION, sessionId } from './served.js'

export const responseOperations = {
  read: describeOperation({
    summary: 'Answers the text of the answer that is being recorded, as far as it has come.',
    input: z.strictObject({ sessionId }).nullish(),
    output: z.strictObject({
      /** Null = no answer is being recorded. */
      open: z
        .strictObject({ sessionId: z.string(), messageId: z.string(), partId: z.string(), text: z.string(), length: z.int() })
        .nullable(),
    }),
    refusals: [NO_SESSION, FOREIGN_SESSION, `the text has more than ${LIMITS.pluginResponses.textBytes} bytes`],
  }),
  replace: describeOperation({
    summary: 'Puts another text in the place of what was read; what has come since stays behind it. Everybody sees it at once.',
    input: z.strictObject({
      sessionId,
      partId: z.string().min(1).max(200),
      /** `length` of what was read: so many characters (UTF-16) are replaced. */
      length: z.int().min(0),
      text: z.string().max(LIMITS.pluginResponses.textBytes),
    }),
    output: z.strictObject({
      /** How long the text is now. */
      length: z.int(),
    }),
    refusals: [
      NO_SESSION,
      FOREIGN_SESSION,
      'the text is closed: it stays as it was recorded',
      'it is shorter than that: another plugin has replaced it since, or the answer has begun anew',
      'it would be longer than a text may be',
    ],
  }),
}
