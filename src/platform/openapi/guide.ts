/** Where the sandbox listens unless it is told otherwise. */
const SANDBOX_URL = 'http://127.0.0.1:3000';

/** What a reader of the document must know before the first call; its commands run as they stand, with the reader's keys. */
export function signingGuide(serverUrl: string): string {
  return GUIDE.replace('SERVER', () => (serverUrl === '/' ? SANDBOX_URL : serverUrl));
}

const GUIDE = `
Users, USDC payouts and webhooks of a merchant. Bodies are JSON, errors are problem documents.

### Signing

Every call under \`/merchants/v1\` carries \`svc-api-key\`, \`svc-timestamp\` and \`svc-signature\`. The signature is the
lower-case hex HMAC-SHA256, under the UTF-8 bytes of the private key, of four parts joined by a line feed:

1. the timestamp, as in the header
2. the HTTP method in upper case
3. the path exactly as sent, without the query string
4. the raw body, empty when there is none

\`\`\`bash
BASE_URL='SERVER'
API_KEY='<svc-api-key>'
PRIVATE_KEY='<private key>'

timestamp=$(date +%s)
body='{"phone_number":"+14155550100"}'
signature=$(printf '%s\\nPOST\\n/merchants/v1/users\\n%s' "$timestamp" "$body" |
  openssl dgst -sha256 -hmac "$PRIVATE_KEY" -hex | sed 's/.* //')
key=$(openssl rand -hex 16 | sed 's/./&-/20;s/./&-/16;s/./&-/12;s/./&-/8')
curl "$BASE_URL/merchants/v1/users" -d "$body" -H 'content-type: application/json' \\
  -H "svc-api-key: $API_KEY" -H "svc-timestamp: $timestamp" -H "svc-signature: $signature" \\
  -H "Idempotency-Key: \\"$key\\""
\`\`\`

A 401 for a wrong signature carries \`string_to_sign_bytes\`, the bytes the server signed: compare them with yours. With
\`Accept: text/plain\` they come as hex.

### Doing a thing once

Send an \`Idempotency-Key\`, a quoted uuid, with every POST, PATCH and DELETE. A repeat gets the first answer again, byte
for byte, with \`Idempotent-Replayed: true\`; while the original is under way it gets 409. Answers are kept 30 days; 401,
403, 404, 409, 413, 429 and 5xx are not kept: send the same key again once the cause is gone. After
that a key stands for a request of its own: a secret is never shown a second time.

### Limits

Requests are counted per merchant and minute; \`RateLimit-Policy\` and \`RateLimit\` tell where you stand. After 429 wait
for \`Retry-After\` seconds, and back off exponentially.
`.trim();
