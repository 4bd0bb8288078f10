/** What is used of Onfido's package; it is loaded where Onfido is the provider. */
import type { DefaultApi } from '@onfido/api';

export type { DefaultApi } from '@onfido/api';
/** Options of one request; the package names the type of its HTTP client nowhere. */
export type RawAxiosRequestConfig = NonNullable<Parameters<DefaultApi['findCheck']>[1]>;
