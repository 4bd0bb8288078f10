// Verifies messages by examples/verify-webhook.mjs: one JSON per line in, the reason for refusing (or null) out.
import { createInterface } from 'node:readline';
import { verify } from '../../../../examples/verify-webhook.mjs';

for await (const line of createInterface({ input: process.stdin })) {
  const { secrets, headers, body, now } = JSON.parse(line);
  try {
    verify(secrets, headers, Buffer.from(body, 'base64'), now);
    console.log('null');
  } catch (error) {
    console.log(JSON.stringify(error.message));
  }
}
