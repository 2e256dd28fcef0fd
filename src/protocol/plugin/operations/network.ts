/** `host.network.request` (capability `network`). */
import * as z from 'zod'
import { LIMITS } from '../../limits.js'
import { describeOperation } from './operation.js'

const network = LIMITS.pluginNetwork

/** A name of a header as HTTP has it, and a value without line ends. */
const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/, 'must be a name of a header')
const headerValue = z
  .string()
  .max(network.headerBytes)
  .regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'must be one line of Latin-1')
const headers = z.record(headerName, headerValue)

/** A secret that the host puts into a header; the plugin never sees its value. */
const credential = z.strictObject({
  /** Alias of a secret of the manifest that is declared for this host. */
  alias: z.string().min(1).max(64),
})

const request = {
  url: z.string().min(1).max(network.urlBytes),
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']).default('GET'),
  headers: headers.default({}),
  /** Redirects that are followed. */
  redirects: z.int().min(0).max(5).default(5),
  credential: credential.optional(),
}

const answered = {
  /** Of the address that answered, after redirects. */
  url: z.string(),
  status: z.int(),
  headers: z.record(z.string(), z.string()),
}

const opaqueId = z.string().min(1).max(256)
const refusals = [
  'the address is no http or https address, or holds a login',
  'the host is not one the manifest names',
  'an address of the host belongs to this machine or its own networks, and the installation does not list the host',
  'it leads to this server',
  'a `credential` is named and `secret-use` is not granted, or the secret is not declared for the host, is not set, or the connection would not be encrypted',
  'the quota of the package is used up',
]

export const networkOperations = {
  fetch: describeOperation({
    summary: 'Makes a whole request and answers what came back, as text, or as base64 where it is no text.',
    input: z.strictObject({
      ...request,
      /** Text of the body. */
      body: z.string().optional(),
      /** Bytes of the body, instead of `body`. */
      bodyBase64: z.base64().optional(),
      /** Bytes of the answer that are wanted; the rest is cut off. */
      maxBytes: z.int().min(1).max(network.wholeBytes).default(network.wholeBytes),
    }),
    output: z.strictObject({
      ...answered,
      /** One of the two: text when the answer is valid UTF-8. */
      body: z.string().optional(),
      bodyBase64: z.string().optional(),
      /** There was more than `maxBytes`. */
      truncated: z.boolean(),
    }),
    waits: true,
    refusals: [...refusals, 'both `body` and `bodyBase64` are given'],
  }),
  open: describeOperation({
    summary: 'Begins a request whose body is written, and whose answer is read, piece by piece.',
    input: z.strictObject({
      ...request,
      /** The body is written with `write`; without it the request has none. */
      upload: z.boolean().default(false),
    }),
    output: z.strictObject({ opaqueId }),
    refusals: [...refusals, 'too many are open'],
  }),
  write: describeOperation({
    summary: 'Adds a piece to the body, and ends it with `end`; answers when there is room for the next piece.',
    input: z.strictObject({
      opaqueId,
      text: z.string().max(network.pieceBytes).optional(),
      base64: z.base64().max(network.pieceBytes).optional(),
      end: z.boolean().default(false),
    }),
    output: z.strictObject({}),
    waits: true,
    refusals: ['nothing of this id is open', 'the request has no body, or it has ended', 'the body is too large', 'the request has failed'],
  }),
  read: describeOperation({
    summary: 'Waits for the next piece of the answer; the first one comes with status and headers.',
    input: z.strictObject({ opaqueId }),
    output: z.strictObject({
      /** With the first piece. */
      answer: z.strictObject(answered).optional(),
      base64: z.string(),
      /** There is nothing after it; the id is forgotten. */
      end: z.boolean(),
    }),
    waits: true,
    refusals: ['nothing of this id is open', 'the request has failed, or its time is over'],
  }),
  close: describeOperation({
    summary: 'Ends a request at once, whatever of it is still to come.',
    input: z.strictObject({ opaqueId }),
    output: z.strictObject({
      /** Whether it was open. */
      closed: z.boolean(),
    }),
    refusals: [],
  }),
}
