/** Beside a package: what its author holds it to. */
export const CHECK_FILE = 'svc-plugin.test.json'
