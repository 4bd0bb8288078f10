const ID = 'req_1';

/** A response and what the caller gets of it. */
const result = (name, status, body, data, more = {}, headers = {}) => ({
  ...{ name, status, body, headers },
  expected: { status, data, request_id: null, replayed: false, ...more },
});

export const results = [
  result('200', 200, '{"user":{"id":"u"}}', { user: { id: 'u' } }),
  result('201 with its request id', 201, '{"a":1}', { a: 1 }, { request_id: ID }, { 'request-id': ID }),
  result('a repeated response', 201, '{}', {}, { replayed: true }, { 'idempotent-replayed': 'true' }),
  result('a header that denies a repetition', 201, '{}', {}, {}, { 'idempotent-replayed': 'false' }),
  result(
    'a header of a repetition in upper case',
    201,
    '{}',
    {},
    { replayed: true },
    { 'Idempotent-Replayed': 'true' },
  ),
  result('204', 204, '', null, { request_id: ID }, { 'Request-Id': ID }),
  result('202 without a body', 202, '', null),
  result('text in all letters', 200, '{"name":"Zürich 💸 支払い"}', { name: 'Zürich 💸 支払い' }),
  result('a member that is newer than the client', 200, '{"user":{"id":"u","level":3}}', {
    user: { id: 'u', level: 3 },
  }),
  result('a value that is newer than the client', 200, '{"user":{"status":"frozen"}}', {
    user: { status: 'frozen' },
  }),
];

/** A response and the error that it is, as `message` in words. */
const error = (name, status, body, kind, { title, detail, errors = {}, id = null, message }) => ({
  ...{ name, status, body, headers: id === null ? {} : { 'request-id': id } },
  expected: {
    ...{ kind, status, title, detail, errors, request_id: id },
    message: message ?? `${status} ${detail}`,
  },
});
const problem = (status, members) =>
  JSON.stringify({ type: 'about:blank', instance: null, errors: {}, status, ...members });
const bare = (status) => {
  const title = `HTTP ${status}`;
  return { title, detail: title, message: title };
};

export const errors = [
  ...[
    [400, 'InvalidRequestError'],
    [401, 'AuthenticationError'],
    [402, 'ApiError'],
    [403, 'ForbiddenError'],
    [404, 'NotFoundError'],
    [405, 'ApiError'],
    [409, 'ConflictError'],
    [410, 'ApiError'],
    [413, 'ApiError'],
    [415, 'ApiError'],
    [422, 'InvalidRequestError'],
    [429, 'RateLimitError'],
    [500, 'ServerError'],
    [501, 'ServerError'],
    [502, 'ServerError'],
    [503, 'ServerError'],
    [504, 'ServerError'],
    [599, 'ServerError'],
  ].map(([status, kind]) => {
    const members = { title: 'A title', detail: `What is wrong with ${status}` };
    return error(`a problem of ${status}`, status, problem(status, members), kind, { ...members, id: ID });
  }),
  error(
    'messages of a field',
    422,
    problem(422, { title: 'Invalid', detail: 'See errors', errors: { email: ['is no address'] } }),
    'InvalidRequestError',
    {
      ...{ title: 'Invalid', detail: 'See errors', errors: { email: ['is no address'] } },
      message: '422 See errors; email is no address',
    },
  ),
  error(
    'messages of several fields',
    422,
    problem(422, {
      title: 'Invalid',
      detail: 'See errors',
      errors: { 'payout.amount': ['is too low', 'has 7 decimals'], url: ['is no URL'] },
    }),
    'InvalidRequestError',
    {
      ...{ title: 'Invalid', detail: 'See errors' },
      errors: { 'payout.amount': ['is too low', 'has 7 decimals'], url: ['is no URL'] },
      message: '422 See errors; payout.amount is too low, has 7 decimals; url is no URL',
    },
  ),
  error(
    'messages of fields that the detail has',
    422,
    problem(422, {
      title: 'Invalid',
      detail: 'url is no URL; event_types[1] is unknown, [2] is repeated',
      errors: { url: ['is no URL'], event_types: ['[1] is unknown', '[2] is repeated'] },
    }),
    'InvalidRequestError',
    {
      ...{ title: 'Invalid', detail: 'url is no URL; event_types[1] is unknown, [2] is repeated' },
      errors: { url: ['is no URL'], event_types: ['[1] is unknown', '[2] is repeated'] },
    },
  ),
  error(
    'a message of a field that the detail has of another one',
    422,
    problem(422, {
      title: 'Invalid',
      detail: 'backup_email is no address',
      errors: { email: ['is no address'] },
    }),
    'InvalidRequestError',
    {
      ...{ title: 'Invalid', detail: 'backup_email is no address', errors: { email: ['is no address'] } },
      message: '422 backup_email is no address; email is no address',
    },
  ),
  error('a detail that begins with the status', 502, '{"detail":"502 Bad Gateway"}', 'ServerError', {
    ...{ title: 'HTTP 502', detail: '502 Bad Gateway', message: '502 Bad Gateway' },
  }),
  error('no body', 404, '', 'NotFoundError', bare(404)),
  error('HTML', 502, '<html><body>Bad gateway</body></html>', 'ServerError', { ...bare(502), id: ID }),
  error('text', 400, 'Bad request', 'InvalidRequestError', bare(400)),
  error('JSON that is cut off', 500, '{"title":"A ti', 'ServerError', bare(500)),
  error('JSON that is a text', 500, '"down"', 'ServerError', bare(500)),
  error('JSON that is null', 500, 'null', 'ServerError', bare(500)),
  error('JSON that is a list', 500, '[{"title":"A title"}]', 'ServerError', bare(500)),
  error('JSON that is a number', 500, '500', 'ServerError', bare(500)),
  error('a problem without a detail', 404, '{"title":"Not found"}', 'NotFoundError', {
    title: 'Not found',
    detail: 'Not found',
  }),
  error('a problem without a title', 404, '{"detail":"No such user"}', 'NotFoundError', {
    title: 'HTTP 404',
    detail: 'No such user',
  }),
  error('a problem without members', 409, '{}', 'ConflictError', bare(409)),
  error(
    'another status in the body',
    403,
    problem(500, { title: 'A title', detail: 'Denied' }),
    'ForbiddenError',
    {
      ...{ title: 'A title', detail: 'Denied' },
    },
  ),
  error(
    'a title and a detail that are no texts',
    400,
    '{"title":1,"detail":{"a":2}}',
    'InvalidRequestError',
    bare(400),
  ),
  error(
    'a title and a detail that are null',
    400,
    '{"title":null,"detail":null}',
    'InvalidRequestError',
    bare(400),
  ),
  error('errors that are null', 422, '{"title":"A title","errors":null}', 'InvalidRequestError', {
    title: 'A title',
    detail: 'A title',
  }),
  error(
    'errors that are a list',
    422,
    '{"title":"A title","errors":[{"message":"no"}]}',
    'InvalidRequestError',
    { title: 'A title', detail: 'A title' },
  ),
  error(
    'errors of which one is no list',
    422,
    '{"title":"A title","errors":{"a":"no","b":["is wrong"]}}',
    'InvalidRequestError',
    {
      ...{ title: 'A title', detail: 'A title', errors: { b: ['is wrong'] } },
      message: '422 A title; b is wrong',
    },
  ),
  error('a detail in all letters', 400, '{"title":"t","detail":"Betrag zu groß 💸"}', 'InvalidRequestError', {
    title: 't',
    detail: 'Betrag zu groß 💸',
  }),
  error('a byte order mark before the JSON', 400, '\ufeff{"title":"A title"}', 'InvalidRequestError', {
    title: 'A title',
    detail: 'A title',
  }),
];

const SAME = 'both signed the same bytes: the private key is not that of this api key';
const differs = (at, here, there) =>
  `byte ${at} of the string to sign differs: ${here} here, ${there} at the service`;
/** Bytes that were signed here, those that the service signed, and what the error adds. */
const hint = (name, ours, theirs, expected) => ({
  ...{ name, signed_base64: Buffer.from(ours).toString('base64') },
  body:
    typeof theirs === 'string'
      ? JSON.stringify({ title: 't', string_to_sign_bytes: [...Buffer.from(theirs)] })
      : theirs.text,
  hint: expected,
});

export const hints = [
  hint('the same bytes', '1\nGET\n/a\n', '1\nGET\n/a\n', SAME),
  hint('another first byte', '1\nGET\n/a\n', '2\nGET\n/a\n', differs(0, '"1"', '"2"')),
  hint('another method', '1\nGET\n/a\n', '1\nPUT\n/a\n', differs(2, '"G"', '"P"')),
  hint('another last byte', '1\nGET\n/a\n', '1\nGET\n/a ', differs(8, '"\\n"', '" "')),
  hint('a byte more at the service', '1\nGET\n/a\n', '1\nGET\n/a\n{', differs(9, 'nothing', '"{"')),
  hint('a byte more here', '1\nGET\n/a\n}', '1\nGET\n/a\n', differs(9, '"}"', 'nothing')),
  hint('nothing at the service', 'a', '', differs(0, '"a"', 'nothing')),
  hint('nothing here', '', 'a', differs(0, 'nothing', '"a"')),
  hint('nothing at all', '', '', SAME),
  hint('a quote and a backslash', '"', '\\', differs(0, '"\\""', '"\\\\"')),
  hint('control characters', '\t', '\u001f', differs(0, '"\\t"', '"\\u001f"')),
  hint('a byte of a letter with an accent', 'é', 'è', differs(1, '"\u00a9"', '"\u00a8"')),
  hint('a letter in another encoding', Buffer.from([0xe9]), 'é', differs(0, '"\u00e9"', '"\u00c3"')),
  hint('a carriage return', 'a\n', 'a\r\n', differs(1, '"\\n"', '"\\r"')),
  hint('no bytes from the service', 'a', { text: '{"title":"t"}' }, null),
  hint('bytes that are no list', 'a', { text: '{"string_to_sign_bytes":"a"}' }, null),
  hint('no JSON', 'a', { text: '<html>' }, null),
  hint('no body', 'a', { text: '' }, null),
];
