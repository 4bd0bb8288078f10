import { operationsOf, schemaPages, slug } from './document.mjs';
import { exampleOf } from './examples.mjs';
import { operationPage } from './operation-page.mjs';
import { cell, fieldsTable, fenced, toPage } from './tables.mjs';
import { webhookPage } from './webhook-page.mjs';

/**
 * The pages that come from the document, as `{ name, markdown }`, by the path that they have on the site. `tryIt` is what the form of
 * an operation needs.
 */
export async function referencePages(document) {
  const operations = operationsOf(document);
  const pages = schemaPages(document);
  const tags = document.tags.map((tag) => ({
    ...tag,
    operations: operations.filter((each) => each.tag === tag.name),
    webhooks: Object.keys(document.webhooks).filter(
      (type) => document.webhooks[type].post.tags[0] === tag.name,
    ),
  }));
  const all = [
    { name: 'reference/index', markdown: indexPage(document, tags) },
    { name: 'reference/errors', markdown: errorsPage(document, pages) },
    ...tags.map((tag) => ({ name: `reference/${slug(tag.name)}`, markdown: tagPage(document, tag, pages) })),
    ...(await Promise.all(operations.map((each) => operationPage(document, each, pages)))),
    ...Object.keys(document.webhooks).map((type) => webhookPage(document, type, pages)),
  ];
  const names = all.map(({ name }) => name);
  const twice = names.find((name, n) => names.indexOf(name) !== n);
  if (twice !== undefined) throw new Error(`two pages are called ${twice}`);
  return all;
}

/** Groups of the sidebar: a tag each, with its operations. */
export function referenceSidebar(document) {
  const operations = operationsOf(document);
  return document.tags.map(({ name }) => ({
    text: name,
    link: `/reference/${slug(name)}`,
    collapsed: true,
    items: [
      ...operations
        .filter(({ tag }) => tag === name)
        .map(({ id, summary }) => ({ text: summary, link: `/reference/${id}` })),
      ...Object.keys(document.webhooks)
        .filter((type) => document.webhooks[type].post.tags[0] === name)
        .map((type) => ({ text: type, link: `/reference/webhooks/${slug(type)}` })),
    ],
  }));
}

function indexPage(document, tags) {
  const guide = document.info.description.replaceAll(/^### /gm, '## ');
  const list = (isAdmin) =>
    tags
      .filter(({ name }) => name.startsWith('Admin: ') === isAdmin)
      .map(
        ({ name, description }) => `| [${name}](${slug(name)}.md) | ${cell(description.split('\n\n')[0])} |`,
      )
      .join('\n');
  return `# API reference

${guide}

## All operations

The document that these pages are built from is at \`/openapi.json\` of each service. Errors are [problem documents](${toPage('errors')}).

| | |
|---|---|
${list(false)}

### Of operators

| | |
|---|---|
${list(true)}
`;
}

function tagPage(document, { name, description, operations, webhooks }, pages) {
  const rows = operations.map(
    ({ id, method, path, summary }) => `| [${cell(summary)}](${id}.md) | \`${method} ${path}\` |`,
  );
  const sent = webhooks.map(
    (type) => `| [${type}](webhooks/${slug(type)}.md) | ${cell(document.webhooks[type].post.summary)} |`,
  );
  const objects = [...pages].filter(([, page]) => page === slug(name)).map(([schema]) => schema);
  return [
    `# ${name}`,
    description,
    ['| | |', '|---|---|', ...rows, ...sent].join('\n'),
    ...objects.map((schema) => objectSection(document, schema, pages)),
  ].join('\n\n');
}

function errorsPage(document, pages) {
  const { responses } = document.components;
  const titles = Object.entries(responses).map(
    ([name, { description }]) => `| ${name} | ${cell(description)} |`,
  );
  return [
    '# Errors',
    'Every error is a problem document (`application/problem+json`, RFC 9457). `detail` is for people; act on the status, and on 422 on the names in `errors`. Quote the `Request-Id` of the response when you ask for support.',
    `| Status | What to do |
|---|---|
| 400, 415, 422 | Correct the request. On 422 \`errors\` has the fields at fault |
| 401 | Compare the bytes that you signed with \`string_to_sign_bytes\`; check the key and the clock |
| 403, 404 | The key may not do this, or nothing of yours has this id |
| 409 | Read the state, or wait until the first request with this \`Idempotency-Key\` has its response |
| 429, 503 | Wait for \`Retry-After\` seconds, then repeat with the same \`Idempotency-Key\` |
| 500 | Repeat with the same \`Idempotency-Key\`: nothing is done twice |`,
    '## Common responses',
    ['| Name in the document | When |', '|---|---|', ...titles].join('\n'),
    ...['Problem', 'SignatureProblem'].map((schema) => objectSection(document, schema, pages)),
  ].join('\n\n');
}

function objectSection(document, name, pages) {
  const schema = document.components.schemas[name];
  const example = exampleOf(document, { $ref: `#/components/schemas/${name}` });
  return [
    `## ${name}`,
    ...(schema.description ? [schema.description] : []),
    fieldsTable(schema, pages),
    fenced('json', JSON.stringify(example, null, 2)),
  ].join('\n\n');
}
