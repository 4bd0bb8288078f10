const page = (ids, next_cursor) => ({
  payouts: ids.map((id) => ({ id })),
  ...(next_cursor === undefined ? {} : { next_cursor }),
});

/** A list of payouts: the bodies of its pages, the ids that the caller gets, and the cursor of each request. */
const list = (name, bodies, cursors, first = null) => ({
  ...{ name, first, bodies, cursors },
  ids: bodies.slice(0, cursors.length).flatMap(({ payouts }) => payouts.map(({ id }) => id)),
});

export const pages = [
  list('an empty list', [page([], null)], [null]),
  list('one page', [page(['a', 'b'], null)], [null]),
  list('one page without next_cursor', [page(['a'])], [null]),
  list('one page with an empty next_cursor', [page(['a'], '')], [null]),
  list('two pages', [page(['a', 'b'], 'c1'), page(['c'], null)], [null, 'c1']),
  list('three pages', [page(['a'], 'c1'), page(['b'], 'c2'), page(['c'], null)], [null, 'c1', 'c2']),
  list(
    'an empty page between others',
    [page(['a'], 'c1'), page([], 'c2'), page(['b'], null)],
    [null, 'c1', 'c2'],
  ),
  list('an empty page at the end', [page(['a'], 'c1'), page([], null)], [null, 'c1']),
  list('an empty page at the beginning', [page([], 'c1'), page(['a'], null)], [null, 'c1']),
  list('from a cursor of the caller', [page(['d'], 'c9'), page(['e'], null)], ['c8', 'c9'], 'c8'),
  list('a cursor that must be encoded', [page(['a'], 'a+b/c=& ü'), page(['b'], null)], [null, 'a+b/c=& ü']),
  list('an item twice', [page(['a'], 'c1'), page(['a'], null)], [null, 'c1']),
];
