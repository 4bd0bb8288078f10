import { createHmac } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from '@jest/globals';
import {
  blockOf,
  blocksOf,
  isOfMerchants,
  messageOf,
  operationsOf,
  pageOf,
  readDocument,
  sectionOf,
} from '../../support/docs/reference.js';
import { closed } from '../../support/http/openapi.js';

const document = readDocument();
const operations = operationsOf(document);
const ajv = new Ajv2020({ strict: false, allErrors: true });
(addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
ajv.addSchema({ ...(closed(document) as object), $id: 'document' });

/** Validates a value by the schema at a place of the document. Returns the fault or null. */
function faultOf(place: readonly string[], value: unknown): string | null {
  const pointer = place.map((each) => each.replaceAll('~', '~0').replaceAll('/', '~1')).join('/');
  const validate = ajv.compile({ $ref: encodeURI(`document#/${pointer}`) });
  return validate(value) ? null : `${place.join(' ')}: ${ajv.errorsText(validate.errors)}`;
}

const JSON_SCHEMA = ['content', 'application/json', 'schema'];

describe('the API reference', () => {
  it('has a valid example for each schema', () => {
    const tags = readdirSync('docs/.vitepress/dist/reference').filter((name) => name.endsWith('.md'));
    const pages = tags.map((name) => pageOf(`reference/${name.slice(0, -3)}`));
    const faults = Object.keys(document.components.schemas).flatMap((name) => {
      const page = pages.find((each) => each.includes(`\n## ${name}\n`));
      if (page === undefined) return [`${name} has no section`];
      const example = JSON.parse(blockOf(sectionOf(page, name), 'json')!) as unknown;
      return faultOf(['components', 'schemas', name], example) ?? [];
    });
    expect(faults).toEqual([]);
    expect(Object.keys(document.components.schemas).length).toBeGreaterThan(100);
  });

  it('has a page for each operation with its statuses, a valid request and a valid response', () => {
    const faults = operations.flatMap(({ id, method, path, requestBody, responses }) => {
      const page = pageOf(`reference/${id}`);
      const place = ['paths', path, method.toLowerCase()];
      expect(page).toContain(`\`\`\`http\n${method} ${path}\n\`\`\``);
      const response = sectionOf(page, 'Response');
      for (const status of Object.keys(responses)) expect(response).toContain(`\n| ${status} | `);
      const { head, body } = messageOf(blockOf(response, 'http')!);
      const [, status] = / (\d{3}) /.exec(head[0]!)!;
      const sent = requestBody && JSON.parse(blockOf(sectionOf(page, 'Body'), 'json')!);
      return [
        requestBody && faultOf([...place, 'requestBody', ...JSON_SCHEMA], sent),
        responses[status!]!.content && faultOf([...place, 'responses', status!, ...JSON_SCHEMA], body),
      ].filter((each) => typeof each === 'string');
    });
    expect(faults).toEqual([]);
  });

  it('has samples in three languages for merchant operations, and in curl for all operations', () => {
    const lacking = operations.flatMap((operation) => {
      const languages = blocksOf(sectionOf(pageOf(`reference/${operation.id}`), 'Request')).map(
        ({ language }) => language,
      );
      const due = isOfMerchants(operation) ? ['bash', 'ts', 'python'] : ['bash'];
      return languages.join() === due.join() ? [] : [`${operation.id}: ${languages.join()}`];
    });
    expect(lacking).toEqual([]);
  });

  it('has a page for each webhook with a valid and correctly signed delivery', () => {
    for (const type of Object.keys(document.webhooks)) {
      const page = pageOf(`reference/webhooks/${type.replace('.', '-')}`);
      const delivery = blockOf(page, 'http')!;
      const { head, body } = messageOf(delivery);
      expect(faultOf(['webhooks', type, 'post', 'requestBody', ...JSON_SCHEMA], body)).toBeNull();
      const header = (name: string): string => head.find((each) => each.startsWith(name))!.split(': ')[1]!;
      const key = Buffer.from(/`whsec_(\S+)`/.exec(page)![1]!, 'base64');
      const signed = `${header('webhook-id')}.${header('webhook-timestamp')}.${delivery.split('\n\n')[1]}`;
      expect(header('webhook-signature')).toBe(
        `v1,${createHmac('sha256', key).update(signed).digest('base64')}`,
      );
    }
  });
});
