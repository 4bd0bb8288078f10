export { LookupsView } from './search/lookups.view.js';
