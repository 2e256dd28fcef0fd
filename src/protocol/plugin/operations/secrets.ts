/** `host.secret.use` and `host.secret.read` (capabilities `secret-use`, `secret-read`): secrets that the manifest declares. */
import * as z from 'zod'
import { describeOperation } from './operation.js'

const alias = z.string().min(1).max(64)
const SIGNED_BYTES = 128 * 1024
const unknown = ['the manifest declares no secret of this alias', 'the secret has no value: `svc plugin configure` asks for it']

export const secretUseOperations = {
  list: describeOperation({
    summary: 'Names the secrets of the manifest, and whether each has a value.',
    input: z.strictObject({}).nullish(),
    output: z.strictObject({ secrets: z.array(z.strictObject({ alias, isSet: z.boolean() })) }),
    refusals: [],
  }),
  sign: describeOperation({
    summary: 'Answers the HMAC of a text or of bytes with the secret as its key.',
    input: z.strictObject({
      alias,
      algorithm: z.enum(['sha256', 'sha512']).default('sha256'),
      text: z.string().max(SIGNED_BYTES).optional(),
      base64: z.base64().max(SIGNED_BYTES).optional(),
      encoding: z.enum(['hex', 'base64']).default('hex'),
    }),
    output: z.strictObject({ signature: z.string() }),
    refusals: [...unknown, 'not exactly one of `text` and `base64` is given'],
  }),
}

export const secretReadOperations = {
  get: describeOperation({
    summary: 'Answers the value of a secret.',
    input: z.strictObject({ alias }),
    output: z.strictObject({ value: z.string() }),
    refusals: unknown,
  }),
}
