// Which name the user may have meant by a mistyped one.
#pragma once

#include <string>
#include <vector>

namespace csrkit {

/// The name nearest to `word`: one that begins with it, or one within two slips of the keyboard (a
/// letter too many, missing, wrong, or two exchanged), one slip for words of up to five letters.
/// "" where there is none.
std::string nearest(const std::string& word, const std::vector<std::string>& names);

/// "; did you mean 'rcm'?" for "rmc", "" where no name is near: the end of a refusal.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& names);

/// The same for names in one text, "random, degree, rcm". Words in brackets after a name are not
/// part of it.
std::string did_you_mean(const std::string& word, const std::string& listed);

}  // namespace csrkit
