import { describe, expect, it } from '@jest/globals';
import { queryInstant } from '../dto/date-point.js';
import { oneOf, text, uuid } from '../dto/rules.js';
import { Day, Filter, ListParameters } from './list-query.js';
import { QueryPipe } from './decorators.js';

const ID = '00000000-1111-2222-3333-444444444444';

class Query extends ListParameters {
  @Filter(uuid, 'An id.') id?: string;
  @Filter(oneOf(['open']), 'A status.') status?: string;
  @Filter(queryInstant, 'An instant.') since?: Date;
  @Filter(text(), 'A name.') name?: string;
  @Filter(text(), 'A number.') phone?: string;
  @Day('A day.') from?: string;
}

const read = async (query: Record<string, string>, isList = true): Promise<unknown> =>
  new QueryPipe(isList).transform(query, { type: 'query', metatype: Query });

describe('the filters of a list', () => {
  it('are trimmed like the stored values', async () => {
    expect(
      await read({ id: ` ${ID} `, status: 'open ', name: '\tAda L. ', from: ' 2026-01-31', page_size: '5 ' }),
    ).toMatchObject({ id: ID, status: 'open', name: 'Ada L.', from: '2026-01-31', page_size: 5 });
  });

  it('lose invisible characters in ids, dates and times', async () => {
    expect(await read({ id: `\u200e${ID}\ufeff`, from: '\u20662026-01-31\u2069' })).toMatchObject({
      id: ID,
      from: '2026-01-31',
    });
    expect(await read({ since: '\u200b2026-01-31T12:00:00Z' })).toMatchObject({
      since: new Date('2026-01-31T12:00:00Z'),
    });
  });

  it('retain a blank before digits, because it may be the plus of a phone number', async () => {
    expect(await read({ phone: ' 1 555 000 1111' })).toMatchObject({ phone: ' 1 555 000 1111' });
  });

  it.each([
    ['2026-01-31T12:00:00 02:00', '2026-01-31T10:00:00.000Z'],
    ['2026-01-31 12:00:00 0200', '2026-01-31T10:00:00.000Z'],
    ['20260131T120000.5 02', '2026-01-31T10:00:00.500Z'],
    ['2026-01-31 12:00:00+00:00', '2026-01-31T12:00:00.000Z'],
  ])('accept the time %s: a blank before the offset counts as a plus', async (since, iso) => {
    expect(await read({ since })).toMatchObject({ since: new Date(iso) });
  });

  it.each([
    [{ name: ' ' }, 'name must not be empty'],
    [{ since: '2026-01-31' }, 'since must be a date and time such as 2026-01-31T12:00:00Z'],
    [{ since: '2026-01-31 12:00' }, 'since must be a date and time such as 2026-01-31T12:00:00Z'],
    [{ since: '2026-01-31T23:59:60Z' }, 'since must be a date and time such as 2026-01-31T12:00:00Z'],
    [{ since: '2026-01-31T12:00:00+24:00' }, 'since must be a date and time such as 2026-01-31T12:00:00Z'],
    [{ from: '2026-01-31T00:00:00Z' }, 'from must be a date of the form YYYY-MM-DD'],
    [{ from: '2026-02-30' }, 'from must be a date of the form YYYY-MM-DD'],
  ])('cannot be %j', async (query, message) => {
    await expect(read(query)).rejects.toMatchObject({ code: 'bad_request', message });
  });
});

it('the query parameters of a route that is not a list are not trimmed', async () => {
  expect(await read({ name: ' Ada ' }, false)).toMatchObject({ name: ' Ada ' });
});
