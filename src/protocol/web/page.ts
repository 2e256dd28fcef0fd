/** What the server and the reader of web pages, a program of its own, say to each other. */
import * as z from 'zod'

/** The first line of what the reader is given; the page follows. */
export const PageRequest = z.strictObject({
  /** Where the page was found. */
  address: z.string(),
  /** `article`: Markdown, unless the page is more than the reader takes; `text`: words alone. */
  as: z.enum(['article', 'text']),
})
export type PageRequest = z.infer<typeof PageRequest>

/** What the reader answers. */
export const ReadPage = z.strictObject({ title: z.string(), text: z.string(), kind: z.enum(['article', 'page', 'text']), cut: z.boolean() })
export type ReadPage = z.infer<typeof ReadPage>
