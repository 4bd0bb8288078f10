const SANDBOX_URL = 'http://127.0.0.1:3000';

/** Returns the introduction of the OpenAPI document. Its commands run with the reader's keys. */
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

### Idempotency

Send an \`Idempotency-Key\`, a quoted uuid, with every POST, PATCH and DELETE. Requests repeated with the same
key are executed only once: a repeat gets the first response again, byte for byte, with \`Idempotent-Replayed: true\`, and
409 while the original is in progress. Responses are kept for 30 days, except 401, 403, 404, 409, 413, 429 and 5xx: repeat
those with the same key once the cause is gone. After 30 days the key counts as new. A secret is never shown a second time.

### Limits

Requests are counted per merchant and minute; \`RateLimit-Policy\` and \`RateLimit\` report what is left. After a 429, wait
for \`Retry-After\` seconds, and back off exponentially.

### Exchange

Calls under \`/v1\` have no body: all inputs are in the query, including the key as \`api_key\`. If the key requires signatures,
\`signature\` is the lower-case hex HMAC-SHA256, under the UTF-8 bytes of the key's secret, of \`withdraw_address=\` followed by
the payout address before percent-encoding; for an action on an order, the address of that order. The list of orders takes
its key in \`X-Api-Key\` and is always signed, in \`X-Signature\`, over an empty address, even when it filters by one.

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
