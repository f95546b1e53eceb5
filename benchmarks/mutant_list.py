"""Mistakes that a hurried author makes: lines of the library, what stands in their place, and the test that then fails."""

from typing import NamedTuple


class Mutant(NamedTuple):
    """One mistake: `right` stands in `transformer_lib/MODULE.py` once, and `wrong` takes its place; then `test` fails."""

    module: str
    right: str
    wrong: str
    test: str


# By module: what stands there, what takes its place, and a test of the file of that name, or of another that is named.
# fmt: off
_BY_MODULE = {
    "attention": [
        ("query / math.sqrt(query.size(-1))", "query", "test_equals_the_loops"),
        ("scores = scaled_query @ key.transpose(-2, -1)",
         "scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))", "test_float16_scores_do_not_overflow"),
        ("masked_softmax(scores, mask)", "masked_softmax(scores)", "test_equals_the_loops"),
        ("masked_softmax(scores, mask)", "masked_softmax(scores, mask if mask is None else ~mask)", "test_true_may_attend"),
        ("masked_softmax(scores, mask)", "scores.softmax(dim=-2)", "test_a_soft_look_up_by_hand"),
        ("self.key_projection = nn.Linear(d_model, d_model)",
         "self.key_projection = self.query_projection", "test_four_biases_and_the_number_of_parameters"),
        ("dropout = self.dropout if self.training else 0.0", "dropout = self.dropout", "test_dropout_is_off_by_default"),
        ("dropout = self.dropout if self.training else 0.0", "dropout = 0.0", "test_dropout_is_off_by_default"),
        ("F.scaled_dot_product_attention(q, k, v, mask, dropout)",
         "F.scaled_dot_product_attention(q, k, v, mask, dropout, scale=1.0)", "test_the_scale_is_the_width_of_a_head"),
    ],
    "alignment": [
        ("scores.masked_fill(~mask, -math.inf)",
         "scores.masked_fill(~mask, -100.0)", "test_attention.py::test_masked_scores_are_minus_infinity"),
        ("scores.masked_fill(~mask, -math.inf)",
         "scores.masked_fill(mask, -math.inf)", "test_attention.py::test_true_may_attend"),
        ("return weights.masked_fill(~mask, 0.0)", "return weights", "test_attention.py::test_a_fully_masked_row_gives_zeros"),
    ],
    "masks": [
        ("is_word = tokens != pad_id", "is_word = tokens != PAD_ID", "test_true_means_may_attend"),
        ("is_word = tokens != pad_id", "is_word = tokens > pad_id", "test_true_means_may_attend"),
        ("is_word[:, None, None, :]", "is_word[:, None, :, None]", "test_padding_hides_columns_never_rows"),
        (".tril()", ".triu()", "test_look_ahead_row_by_row"),
        ("dtype=torch.bool, device=device)", "dtype=torch.bool)", "test_the_causal_mask_follows_the_device"),
        ("ids[following % len(ids)]", "following % len(ids)", "test_a_changed_id_is_another_of_the_ids"),
        ("torch.randn_like(old)", "old + 1", "test_a_change_survives_layer_normalisation"),
        ("torch.randn_like(old)", "torch.zeros_like(old)", "test_a_leak_is_found_where_x_is_zero"),
        ("        torch.manual_seed(seed)  # the same dropout in each pass\n", "", "test_a_causal_stack_passes"),
        ("not before.isfinite().all()", "not before.isfinite().any()", "test_nan_is_no_proof_of_causality"),
        ("for output in range(later):", "for output in range(later + 1):", "test_a_causal_stack_passes"),
        ("after[:, output].allclose(before[:, output])",
         "after[:, output].allclose(before[:, output], atol=0.01)", "test_a_leak_in_one_number_is_found"),
        ("output, later = min(leaks)", "output, later = max(leaks)", "test_the_first_leak_is_the_earliest_output"),
        (", torch.random.fork_rng():", ":", "test_everything_is_left_as_it_was"),
    ],
    "encoder": [
        ("eps: float = 1e-5", "eps: float = 1e-6", "test_epsilon_is_inside_the_root"),
        ("return x + self.dropout(sublayer(self.norm(x)))",
         "return self.norm(x) + self.dropout(sublayer(self.norm(x)))", "test_residual_is_the_order_it_says"),
        ("return self.norm(x + self.dropout(sublayer(x)))",
         "return self.norm(self.dropout(x + sublayer(x)))", "test_dropout_acts_on_the_sublayer_alone"),
        ("return self.norm(x + self.dropout(sublayer(x)))",
         "return x + self.norm(self.dropout(sublayer(x)))", "test_residual_is_the_order_it_says"),
        ("return self.norm(x + self.dropout(sublayer(x)))",
         "return self.norm(self.dropout(sublayer(x)))", "test_residual_is_the_order_it_says"),
        ("self.dropout = nn.Dropout(dropout)", "self.dropout = nn.Dropout()", "test_settings_reach_every_layer"),
        ("num_heads=16,", "num_heads=8,", "test_transformer.py::test_the_base_model_has_63_million_parameters"),
        ("dropout=0.3,", "", "test_transformer.py::test_the_base_model_has_63_million_parameters"),
        ("d_model, config.num_heads, config.attention_dropout",
         "d_model, config.num_heads, dropout", "test_settings_reach_every_layer"),
        ("self.attention_residual = AddAndNorm(d_model, dropout, pre_norm)",
         "self.attention_residual = AddAndNorm(d_model, 0.0, pre_norm)", "test_settings_reach_every_layer"),
    ],
    "decoder": [
        ("lambda x: self.self_attention(x, x, x, self_mask)",
         "lambda x: self.self_attention(x, x, x)", "test_a_later_word_moves_no_earlier_output"),
        ("lambda x: self.cross_attention(x, memory, memory, memory_mask)",
         "lambda x: self.cross_attention(x, memory, memory)", "test_padding_of_the_source_moves_nothing"),
        ("self.cross_attention = MultiHeadAttention(\n            d_model, config.num_heads, config.attention_dropout",
         "self.cross_attention = MultiHeadAttention(\n            d_model, config.num_heads",
         "test_dropout_acts_in_training_only"),
        ("self.cross_attention_residual = AddAndNorm(d_model, dropout, pre_norm)",
         "self.cross_attention_residual = AddAndNorm(d_model, 0.0, pre_norm)", "test_dropout_acts_in_training_only"),
        ("x = layer(x, memory, self_mask, memory_mask)",
         "x = memory = layer(x, memory, self_mask, memory_mask)", "test_every_layer_asks_the_same_memory_anew"),
    ],
    "transformer": [
        ("vectors * math.sqrt(self.weight.size(1))",
         "vectors * math.sqrt(self.weight.size(0))", "test_embedding_is_the_row_times_the_root"),
        ("kind(config.d_model, config.max_len, config.dropout)",
         "kind(config.d_model, config.max_len)", "test_dropout_only_where_the_paper_has_it"),
        ("[*self.encoder.parameters(), *self.decoder.parameters()]",
         "self.encoder.parameters()", "test_each_matrix_starts_by_glorots_rule"),
        ("nn.init.xavier_uniform_(parameter)", "nn.init.xavier_normal_(parameter)", "test_each_matrix_starts_by_glorots_rule"),
        ("            self.target_embedding = self.source_embedding\n", "", "test_one_matrix_survives_loading_and_moving"),
        ("self.output.weight = self.source_embedding.weight",
         "self.output.weight.data = self.source_embedding.weight.data.clone()", "test_one_matrix_survives_loading_and_moving"),
    ],
    "positional_encoding": [
        ("2 * pair / d_model", "pair / d_model", "test_the_table_is_the_hand_made_one"),
        ("torch.stack([angle.sin(), angle.cos()], dim=-1)",
         "torch.cat([angle.sin(), angle.cos()], dim=-1)", "test_the_table_is_the_hand_made_one"),
        ("pair = torch.arange(d_model // 2, dtype=torch.float64)",
         "pair = torch.arange(d_model // 2, dtype=torch.float32)", "test_angles_are_computed_in_float64"),
        ("persistent=False", "persistent=True", "test_the_table_is_a_buffer_that_is_not_saved"),
        ("# (1, seq, d_model)\n        return self.dropout(x + rows)",
         "# (1, seq, d_model)\n        return self.dropout(x) + rows", "test_dropout_acts_on_the_sum_in_training"),
    ],
    "schedule": [
        ("min(step**-0.5, step * warmup**-1.5)", "max(step**-0.5, step * warmup**-1.5)", "test_rate_is_the_formula"),
        ("noam_rate(done + 1, self.d_model, self.warmup)",
         "noam_rate(max(done, 1), self.d_model, self.warmup)", "test_the_first_step_has_the_rate_of_step_1"),
        ("noam_rate(done + 1, self.d_model, self.warmup)",
         "noam_rate(done + 1, self.d_model)", "test_the_first_step_has_the_rate_of_step_1"),
        ("betas=(0.9, 0.98)", "betas=(0.9, 0.999)", "test_optimizer_has_the_papers_numbers"),
        ('            group["lr"] = rate\n', "            pass\n", "test_resuming_gives_the_same_rates"),
        ("ignore_index=pad_id", "ignore_index=PAD_ID", "test_padding_changes_nothing"),
        ("        label_smoothing=smoothing,\n", "", "test_each_word_gets_smoothing_over_vocab"),
    ],
    "seq2seq": [
        ("finished = finished | (token == EOS_ID)",
         "finished = token == EOS_ID", "test_decoding.py::test_finished_sentences_stay_finished"),
        ("while len(written) < max_len and not finished.all():",
         "while len(written) < max_len:", "test_decoding.py::test_finished_sentences_stay_finished"),
        ("while len(written) < max_len and not finished.all():", "while len(written) < max_len and not finished.any():",
         "test_decoding.py::test_a_sentence_is_written_the_same_alone_and_among_others"),
    ],
    "decoding": [
        ("(logits - logits.amax(dim=-1, keepdim=True)) / temperature", "logits / temperature", "test_sampling_by_hand"),
        ("(rank < top_k)", "(rank <= top_k)", "test_sampling_by_hand"),
        ("(before < wanted)", "(before <= wanted)", "test_sampling_by_hand"),
        ("before = ordered.cumsum(dim=-1) - ordered", "before = ordered.cumsum(dim=-1)", "test_sampling_by_hand"),
        ("wanted = top_p * ordered.sum(dim=-1, keepdim=True)", "wanted = top_p", "test_sampling_by_hand"),
        ("((before < wanted) | (rank == 0))", "(before < wanted)", "test_sampling_by_hand"),
        ("torch.zeros_like(ordered).scatter(-1, tokens, ordered)", "ordered.gather(-1, tokens)", "test_sampling_by_hand"),
        ("score = total / length_penalty(len(tokens), alpha)", "score = total", "test_the_beam_never_extends_a_finished_one"),
        ("score = total / length_penalty(len(tokens), alpha)",
         "score = total / length_penalty(max(1, len(tokens) - 1), alpha)", "test_the_beam_never_extends_a_finished_one"),
        ("hope = log_probs.amax(dim=1) / largest_penalty",
         "hope = log_probs.amax(dim=1)", "test_the_search_waits_for_a_long_hypothesis"),
        ("return hypothesis.tokens[-1] == EOS_ID, hypothesis.score",
         "return True, hypothesis.score", "test_the_beam_never_extends_a_finished_one"),
        ("return hypothesis.tokens[-1] == EOS_ID, hypothesis.score",
         "return hypothesis.tokens[-1] == EOS_ID, hypothesis.log_probability", "test_the_beam_never_extends_a_finished_one"),
        ("key=quality, reverse=True)[:beam_size]", "key=quality, reverse=True)", "test_the_beam_never_extends_a_finished_one"),
        ("            log_probs = log_probs.masked_fill(ends, -math.inf)\n", "", "test_the_beam_never_extends_a_finished_one"),
        ("            log_probs = _without_hopeless(found, log_probs, largest_penalty)\n",
         "", "test_the_search_does_stop_early"),
        ("rows = sentence * beam_size + parents  # of the parents, in the state",
         "rows = parents", "test_a_sentence_is_written_the_same_alone_and_among_others"),
        ("sampling_probabilities(logits, temperature, top_k, top_p)\n", "sampling_probabilities(logits, temperature, top_k)\n",
         "test_sampling_repeats_with_its_generator_and_ends_in_greedy"),
        ("        _add_finished(found, written, log_probs, alpha)  # those that were cut off\n",
         "", "test_finished_sentences_stay_finished"),
        ("beam_hypotheses(model, source, max_len, beam_size, alpha)",
         "beam_hypotheses(model, source, max_len, beam_size)", "test_a_full_beam_is_brute_force"),
    ],
    "training": [
        ("value=sos_id)", "value=SOS_ID)", "test_the_decoder_reads_one_word_behind"),
        ("if target[-1] != EOS_ID:", "if EOS_ID not in target:", "test_training.py::test_wrong_input_is_named"),
        ("width = max(len(sentence) for sentence in pairs[index])",
         "width = len(pairs[index][1])", "test_the_budget_holds_where_one_side_is_long"),
        ("(len(groups[-1]) + 1) * widest > max_tokens",
         "len(groups[-1]) * widest > max_tokens", "test_a_batch_is_as_full_as_its_budget_allows"),
        ("            widest = width\n", "", "test_a_long_sentence_narrows_its_own_batch"),
        ("manual_seed(int(seed or 0))", "manual_seed(0)", "test_the_seed_makes_the_order"),
        ("order = in_random_order(list(range(len(pairs))))",
         "order = list(range(len(pairs)))", "test_the_seed_makes_the_order"),
        ("groups = in_random_order(_groups(pairs, order, max_tokens))",
         "groups = _groups(pairs, order, max_tokens)", "test_the_seed_makes_the_order"),
        ("(len(pairs[index][1]), len(pairs[index][0]))",
         "len(pairs[index][1])", "test_sentences_of_similar_length_share_a_batch"),
        ('label_smoothed_loss(logits, batch.target_out, smoothing, reduction="sum")',
         'label_smoothed_loss(logits, batch.target_out, reduction="sum")', "test_the_loss_is_that_of_each_sentence_alone"),
        ("if not math.isfinite(loss):", "if math.isnan(loss):", "test_a_loss_that_is_no_number_moves_nothing"),
        ("nn.utils.clip_grad_norm_(", "nn.utils.clip_grad_value_(", "test_train_is_a_plain_torch_loop"),
        ("        nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)\n    optimizer.step()",
         "        optimizer.step()\n"
         "        nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)\n"
         "    else:\n"
         "        optimizer.step()", "test_train_is_a_plain_torch_loop"),
        ("update_parameters(model, optimizer, total, max_grad_norm)",
         "update_parameters(model, optimizer, total, None)", "test_train_is_a_plain_torch_loop"),
        ("inference_in_mode(model, training=False)",
         "inference_in_mode(model, training=True)", "test_evaluate_has_no_dropout_and_no_gradients"),
        ("loss = sum(float(_loss_sum(model, batch.to(device), 0.0)) for batch in batches)\n"
         "    return loss / sum(batch.num_tokens for batch in batches)",
         "losses = [float(_loss_sum(model, batch.to(device), 0.0)) / batch.num_tokens for batch in batches]\n"
         "    return sum(losses) / len(losses)", "test_the_loss_is_that_of_each_sentence_alone"),
    ],
    "_checkpoints": [
        ('("schedule", schedule), ("optimizer", optimizer)):\n        if part is not None:',
         '("optimizer", optimizer)):\n        if part is not None:', "test_training.py::test_a_finished_run_may_become_longer"),
        ('        check_weights(state["model"], model)\n',
         "", "test_training.py::test_another_models_checkpoint_changes_nothing"),
    ],
    "_store": [
        (" or parts.testzip():", ":", "test_training.py::test_a_flipped_bit_in_the_weights_is_noticed"),
    ],
    "_checks": [
        ("    equally_many(source=source, target_in=target_in)\n", "", "test_transformer.py::test_wrong_input_says_what_came"),
    ],
    "scaling": [
        ("parts[rank::world_size]", "parts[::world_size]", "test_the_shares_of_all_processes_are_the_whole_batch"),
        ("parts = batch.split(world_size * self.accumulation_steps)",
         "parts = batch.split(world_size)", "test_steps_are_those_of_chapter_12_in_any_number_of_parts"),
        ("mine = mine or [(parts[0], 0)]",
         "mine = mine or [(parts[0], 1)]", "test_the_shares_of_all_processes_are_the_whole_batch"),
        ("torch.manual_seed(seed + rank)", "torch.manual_seed(seed)", "test_no_two_processes_drop_the_same"),
        ('with torch.random.fork_rng([device] if device.type == "cuda" else []):',
         "with nullcontext():", "test_no_two_processes_drop_the_same"),
        ("        optimizer.zero_grad()\n", "", "test_steps_are_those_of_chapter_12_in_any_number_of_parts"),
        ("weight * self._loss_sum(part) / batch.num_tokens",
         "weight * self._loss_sum(part) / part.num_tokens", "test_steps_are_those_of_chapter_12_in_any_number_of_parts"),
        ("(loss * world_size).backward()", "loss.backward()", "test_the_shares_of_all_processes_are_the_whole_batch"),
        ("        total = self.group.sum(total, device)\n", "", "test_the_shares_of_all_processes_are_the_whole_batch"),
        ("part.target_out, self.smoothing, reduction",
         "part.target_out, 0.0, reduction", "test_steps_are_those_of_chapter_12_in_any_number_of_parts"),
        ("2 * (processes - 1) / processes * 4 * parameters", "2 * (processes - 1) * 4 * parameters", "test_bytes_sent_by_hand"),
    ],
    "text": [
        (".replace(\"’\", \"'\")", "", "test_normalise"),
        ('"NFC", text.lower()', '"NFKC", text.lower()', "test_normalise"),
        ('unicodedata.normalize("NFC", text.lower())', "text.lower()", "test_normalise_composes_hangul"),
        ('unicodedata.category(c)[0] in "LM"', 'unicodedata.category(c)[0] in "L"', "test_normalise"),
        ("word.strip(\"'\") for word in", "word for word in", "test_tokenize_drops_quotation_marks_and_keeps_apostrophes"),
        ("[word for word in words if word][:max_tokens]",
         "list(words)[:max_tokens]", "test_tokenize_drops_quotation_marks_and_keeps_apostrophes"),
        ("Counter(tokens).most_common(max_size)", "sorted(Counter(tokens).items())[:max_size]", "test_ids_by_hand"),
        ("[*ids, *[PAD_ID] * (width - len(ids))]",
         "[*[PAD_ID] * (width - len(ids)), *ids]", "test_pad_batch_fills_up_at_the_end"),
        ("_numbers(len(sequences), generator), key=",
         "range(len(sequences)), key=", "test_bucket_batches_shuffle_with_a_generator_and_not_without"),
    ],
    "translation": [
        ("metric.corpus_score(predictions, [references])",
         "metric.corpus_score(references, [predictions])", "test_predictions_come_first"),
    ],
    "_runs": [
    ],
    "_train": [
        ("validation[step] == min(validation.values())", "validation[step] == max(validation.values())",
         "test_scaling.py::test_the_best_weights_have_the_lowest_validation_loss"),
        ('"alpha", "accumulation_steps"}', '"alpha", "accumulation_steps", "smoothing"}',
         "test_scaling.py::test_an_option_that_makes_another_run_must_stay[smoothing]"),
    ],
    "_commands": [
    ],
}
# fmt: on


def _place(module: str, test: str) -> str:
    """Return pytest's name of a test."""
    return f"tests/{test}" if "::" in test else f"tests/test_{module}.py::{test}"


MUTANTS = tuple(
    Mutant(module, right, wrong, _place(module, test)) for module, rows in _BY_MODULE.items() for right, wrong, test in rows
)
