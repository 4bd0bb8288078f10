import { PageOf } from '../../../platform/dto/field.js';
import { digits, text, uuid } from '../../../platform/dto/rules.js';
import { Filter, MAX_PAGE, ListParameters } from '../../../platform/http/list-query.js';
import { Fault } from '../../../kernel/fault.js';
import { LoggedRequest } from '../views/logged-requests.js';

const MAX_PATH = 1024;

const pathPrefix = text({ maxLength: MAX_PATH, examples: ['/merchants/v1/payouts'] }, (value) =>
  value.startsWith('/') && value.length <= MAX_PATH && !value.includes('\0')
    ? value
    : new Fault('must begin with / and have at most 1024 characters'),
);

export class RequestsQuery extends ListParameters {
  @Filter(digits(100, 599), 'Only requests with this status.') status?: number;
  @Filter(pathPrefix, 'Only requests whose path begins so.') path?: string;
  @Filter(uuid, 'Only this request: the Request-Id of its response.') request_id?: string;
  @Filter(uuid, 'Only requests of this merchant.') merchant_id?: string;
}

export class RequestsResponse extends PageOf('requests', LoggedRequest, { maxItems: MAX_PAGE }) {}
