/** The revision that a call expects (http-contract §3). */

/** The condition of a call: body, then query, then `If-Match`, whose quotes and weak mark mean nothing here. */
export function expectedOf(body: string | undefined, query: string | undefined, ifMatch: string | undefined): string | undefined {
  return (
    body ??
    query ??
    ifMatch
      ?.trim()
      .replace(/^W\//, '')
      .replace(/^"(.*)"$/, '$1')
  )
}
