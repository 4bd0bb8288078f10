/** Where the sandbox listens unless it is told otherwise. */
const SANDBOX_URL = 'http://127.0.0.1:3000';

/** What a reader of the document must know before the first call; its commands run as they stand, with the reader's keys. */
export function signingGuide(serverUrl: string): string {
  return GUIDE.replace('SERVER', () => (serverUrl === '/' ? SANDBOX_URL : serverUrl));
}

const GUIDE = `
Users, USDC payouts and webhooks of a merchant, and an exchange. Bodies are JSON, errors are problem documents.

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

### Exchange

Calls under \`/v1\` have no body: all inputs are in the query, the key among them as \`api_key\`. A key that demands signatures
signs the address that is paid out to: \`signature\` is the lower-case hex HMAC-SHA256, under the UTF-8 bytes of the key's
secret, of \`withdraw_address=\` and the address as it is before percent-encoding; of an action on an order, the address of
that order. The list of orders names its key in \`X-Api-Key\` and is signed always, in \`X-Signature\`, over an empty address
unless it filters by one.

\`\`\`bash
EXCHANGE_KEY='<api_key>'
EXCHANGE_SECRET='<secret>'
address='4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T'

sign() { printf 'withdraw_address=%s' "$1" | openssl dgst -sha256 -hmac "$EXCHANGE_SECRET" -hex | sed 's/.* //'; }
curl -X POST "$BASE_URL/v1/orders?api_key=$EXCHANGE_KEY&pair_id=USDCSOL&withdraw_address=$address&signature=$(sign "$address")"
today=$(date -u +%F)
curl "$BASE_URL/v1/merchant/orders?start_date=$today&end_date=$today" \\
  -H "X-Api-Key: $EXCHANGE_KEY" -H "X-Signature: $(sign '')"
\`\`\`
`.trim();
