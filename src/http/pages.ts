/** Headers of pages that say something and do nothing: no script, no frame around them, and no address of theirs told to anybody (threat-model S3). */
export const PLAIN_PAGE: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
}
