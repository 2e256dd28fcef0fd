/** Answers of others, read to their end within a bound. */

/** The text of a good answer. Rejects for another status, without a body, and beyond `maxBytes`; the connection is closed then. */
export async function readAnswer(response: Response, maxBytes: number): Promise<string> {
  const { ok, status, body } = response
  if (!ok || body === null) {
    await body?.cancel()
    throw new Error(`status ${status}`)
  }
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    size += value.byteLength
    if (size > maxBytes) {
      await reader.cancel()
      throw new Error(`more than ${maxBytes} bytes`)
    }
    text += decoder.decode(value, { stream: true })
  }
}
