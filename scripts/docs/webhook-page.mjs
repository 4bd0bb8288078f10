import { createHmac } from 'node:crypto';
import { jsonSchema, slug } from './document.mjs';
import { exampleOf, uuid } from './examples.mjs';
import { cell, fenced, fieldsTable, link, parametersTable, toPage } from './tables.mjs';

/** Of the example alone. */
const SECRET = 'whsec_qgr8ayUBKRC/0piGox3xw/g2b0KJq7iLVqL8dFi0uQM=';
const TIMESTAMP = '1769860800';

/** The page of a type of webhook: the delivery as it arrives, and how it is verified. */
export function webhookPage(document, type, pages) {
  const { post } = document.webhooks[type];
  const schema = jsonSchema(post.requestBody);
  const data = schema.properties.data.$ref.split('/').pop();
  const example = { ...exampleOf(document, schema), id: uuid('delivery'), merchant_id: uuid('merchant') };
  const field = Object.keys(example.data)[0];
  const markdown = [
    `# ${type}`,
    `Sent to your endpoints: ${post.summary} [The guide](../../webhooks.md) says how to receive it; [\`disburse trigger ${type}\`](../../${toPage('command-line', '#triggers')}) makes it happen in the sandbox.`,
    '## Delivery',
    `\`data\` is ${link(data, pages, '../')}. With the secret \`${SECRET}\`, this is a genuine delivery:`,
    fenced('http', deliveryText(JSON.stringify(example))),
    parametersTable(post.parameters, pages, '../'),
    '## Body',
    fieldsTable(schema, pages, { up: '../' }),
    fenced('json', JSON.stringify(example, null, 2)),
    '## Verify',
    `::: code-group\n\n${fenced('ts', typescript(type, field), 'TypeScript')}\n\n${fenced('python', python(type, field), 'Python')}\n\n:::`,
    '## Your response',
    [
      '| Status | What it means |',
      '|---|---|',
      ...Object.entries(post.responses).map(
        ([status, { description }]) =>
          `| ${status === 'default' ? 'other' : status} | ${cell(description)} |`,
      ),
    ].join('\n'),
  ];
  return { name: `reference/webhooks/${slug(type)}`, markdown: `${markdown.join('\n\n')}\n` };
}

function deliveryText(body) {
  const id = JSON.parse(body).id;
  const key = Buffer.from(SECRET.replace('whsec_', ''), 'base64');
  const digest = createHmac('sha256', key).update(`${id}.${TIMESTAMP}.${body}`).digest('base64');
  return `POST /webhooks HTTP/1.1
Content-Type: application/json
webhook-id: ${id}
webhook-timestamp: ${TIMESTAMP}
webhook-signature: v1,${digest}

${body}`;
}

const typescript = (type, field) => `import { verifyWebhook } from '@disburse/sdk';

/** \`body\`: the exact text that arrived. Throws a WebhookError for what is not genuine. */
export function receive(body: string, headers: Record<string, string>) {
  const event = verifyWebhook(process.env.WEBHOOK_SECRET!, body, headers);
  if (event.type === '${type}') console.log(event.data.${field});
}`;

const python = (type, field) => `import os

from disburse import verify_webhook


def receive(body: bytes, headers: dict[str, str]) -> None:
    """\`\`body\`\`: the exact bytes that arrived. Raises a WebhookError for what is not genuine."""
    event = verify_webhook(os.environ["WEBHOOK_SECRET"], body, headers)
    if event["type"] == "${type}":
        print(event["data"]["${field}"])`;
